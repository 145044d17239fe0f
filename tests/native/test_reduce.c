/* Reductions: every type and operation, blocks and their ends, rounding, NaN, aliasing, against plain loops. */
#include <math.h>
#include <stdint.h>

#include "schedules.h"

static uint16_t bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)(bits >> 16); /* only for values that are exact */
}

static void every_type_and_operation(void) {
    enum { COUNT = 2500 }; /* more than two blocks, with an odd end */
    static double storage[SW_MAX_RANKS + 1][COUNT];
    /* Also with as many ranks as there may be: what the start-up tests expect must fit into every type. */
    for (int ranks = 5; ranks <= SW_MAX_RANKS; ranks += 27)
        for (int dtype = 0; dtype < SW_DTYPES; dtype++)
            for (int op = 0; op < SW_REDOPS; op++)
                for (uint64_t count = COUNT - 3; count <= COUNT; count++) {
                    const void *sources[SW_MAX_RANKS];
                    for (int r = 0; r < ranks; r++) {
                        CHECK(sw_test_fill(42, r, dtype, op, storage[r], count) == SW_OK);
                        sources[r] = storage[r];
                    }
                    CHECK(sw_reduce_arrays(dtype, op, storage[SW_MAX_RANKS], sources, ranks, count, (uint32_t)ranks) == SW_OK);
                    CHECK(sw_test_check(42, ranks, dtype, op, storage[SW_MAX_RANKS], count) == 0);
                }
}

static void the_check_can_fail(void) {
    float data[100];
    CHECK(sw_test_fill(1, 0, SW_F32, SW_SUM, data, 100) == SW_OK);
    CHECK(sw_test_check(1, 1, SW_F32, SW_SUM, data, 100) == 0);
    data[7] += 0.125f;
    data[9] = NAN;
    CHECK(sw_test_check(1, 1, SW_F32, SW_SUM, data, 100) == 2);
}

static void half_types_round_once(void) {
    /* 256 is the last whole number before bfloat16 counts in steps of two: 256 + 1 + 1 + 1 must be 260, not 256 */
    uint16_t big = bf16(256), one = bf16(1), out = 0;
    const void *sources[4] = {&big, &one, &one, &one};
    CHECK(sw_reduce_arrays(SW_BF16, SW_SUM, &out, sources, 4, 1, 1) == SW_OK);
    CHECK(out == bf16(260)); /* 259 lies between 258 and 260: to even */
    uint16_t f16_2048 = 0x6800, f16_1 = 0x3c00;
    const void *halves[4] = {&f16_2048, &f16_1, &f16_1, &f16_1};
    CHECK(sw_reduce_arrays(SW_F16, SW_SUM, &out, halves, 4, 1, 1) == SW_OK);
    CHECK(out == 0x6802); /* 2052 */
}

static void all_float16_values_survive(void) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t in = (uint16_t)bits, out = 0;
        const void *sources[1] = {&in};
        CHECK(sw_reduce_arrays(SW_F16, SW_MAX, &out, sources, 1, 1, 1) == SW_OK);
        bool nan = (in & 0x7c00) == 0x7c00 && (in & 0x3ff);
        CHECK(nan ? (out & 0x7c00) == 0x7c00 && (out & 0x3ff) : out == in);
        CHECK(sw_reduce_arrays(SW_BF16, SW_MAX, &out, sources, 1, 1, 1) == SW_OK);
        nan = (in & 0x7f80) == 0x7f80 && (in & 0x7f);
        CHECK(nan ? (out & 0x7f80) == 0x7f80 && (out & 0x7f) : out == in);
    }
    uint16_t largest = 0x7bff, out = 0;
    const void *two[2] = {&largest, &largest};
    CHECK(sw_reduce_arrays(SW_F16, SW_SUM, &out, two, 2, 1, 1) == SW_OK);
    CHECK(out == 0x7c00); /* infinity, not garbage */
}

static void a_nan_wins_and_integers_wrap(void) {
    float nan = NAN, one = 1, out = 0;
    const void *first[2] = {&nan, &one}, *last[2] = {&one, &nan};
    for (int op = SW_MAX; op <= SW_MIN; op++) {
        CHECK(sw_reduce_arrays(SW_F32, op, &out, first, 2, 1, 1) == SW_OK && isnan(out));
        CHECK(sw_reduce_arrays(SW_F32, op, &out, last, 2, 1, 1) == SW_OK && isnan(out));
    }
    int32_t most = INT32_MAX, sum = 0, minus_seven = -7;
    const void *twice[2] = {&most, &most}, *sevens[1] = {&minus_seven};
    CHECK(sw_reduce_arrays(SW_I32, SW_SUM, &sum, twice, 2, 1, 1) == SW_OK && sum == -2);
    CHECK(sw_reduce_arrays(SW_I32, SW_MAX, &sum, twice, 2, 1, 1) == SW_OK && sum == INT32_MAX);
    CHECK(sw_reduce_arrays(SW_I32, SW_AVG, &sum, sevens, 1, 1, 2) == SW_OK && sum == -3);
}

static void the_result_may_lie_in_a_source(void) {
    float a[3000], b[3000];
    for (int i = 0; i < 3000; i++) a[i] = (float)i, b[i] = 1;
    const void *sources[2] = {b, a};
    CHECK(sw_reduce_arrays(SW_F32, SW_SUM, a, sources, 2, 3000, 1) == SW_OK);
    for (int i = 0; i < 3000; i++) CHECK(a[i] == (float)(i + 1));
}

static void nonsense_is_refused(void) {
    float x = 1;
    const void *sources[1] = {&x};
    CHECK(sw_reduce_arrays(99, SW_SUM, &x, sources, 1, 1, 1) == SW_ARGUMENT);
    CHECK(sw_reduce_arrays(SW_F32, 99, &x, sources, 1, 1, 1) == SW_ARGUMENT);
    CHECK(sw_reduce_arrays(SW_F32, SW_SUM, &x, sources, 0, 1, 1) == SW_ARGUMENT);
    CHECK(sw_test_fill(1, 0, 99, SW_SUM, &x, 1) == SW_ARGUMENT);
}

int main(void) {
    every_type_and_operation();
    the_check_can_fail();
    half_types_round_once();
    all_float16_values_survive();
    a_nan_wins_and_integers_wrap();
    the_result_may_lie_in_a_source();
    nonsense_is_refused();
    puts("reduce: fine");
    return 0;
}
