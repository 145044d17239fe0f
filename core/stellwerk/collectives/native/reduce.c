/* Reductions in a fixed order. Half types are summed in float32 and rounded once, at the end of a REDUCE step. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "internal.h"

#define BLOCK 1024 /* elements; the block of partial results stays in the first-level cache */

/* float16 and bfloat16 <-> float32, branch-free so that the compiler can use vector instructions. */

static inline float bits_to_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t float_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bf16_to_float(uint16_t half) {
    return bits_to_float((uint32_t)half << 16);
}

static inline uint16_t float_to_bf16(float value) {
    uint32_t bits = float_to_bits(value);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16; /* to nearest, ties to even */
    uint32_t quiet = (bits >> 16) | 0x40u; /* a NaN must not be rounded up to infinity */
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

static inline float f16_to_float(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    /* Multiplying by 2^112 moves the exponent's bias and makes subnormals normal. */
    float scaled = bits_to_float(magnitude) * bits_to_float(0x77800000u);
    uint32_t bits = float_to_bits(scaled);
    bits = magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : bits; /* infinity and NaN keep their payload */
    return bits_to_float(bits | ((uint32_t)(half & 0x8000u) << 16));
}

static inline uint16_t float_to_f16(float value) {
    uint32_t bits = float_to_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
    uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    /* Adding 0.5 puts a subnormal's bits at the low end of the mantissa, rounded by the hardware. */
    uint32_t subnormal = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half; /* 65520 and above round to infinity */
    half = magnitude > 0x7f800000u ? nan : half;
    return (uint16_t)(sign | half);
}

static inline float same_float(float value) { return value; }
static inline double same_double(double value) { return value; }
static inline uint32_t same_u32(uint32_t value) { return value; }
static inline uint64_t same_u64(uint64_t value) { return value; }
static inline uint8_t same_u8(uint8_t value) { return value; }

/* Signed sums and products wrap around, as everywhere in array libraries; signed overflow is undefined in C, so they are made unsigned. */
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
/* A NaN wins, on either side. Comparing a value with itself is how a NaN is told. */
#define MAX_FLOAT(a, b) (((a) > (b)) || ((a) != (a)) ? (a) : (b))
#define MIN_FLOAT(a, b) (((a) < (b)) || ((a) != (a)) ? (a) : (b))
#define MAX_I32(a, b) ((int32_t)(a) > (int32_t)(b) ? (a) : (b))
#define MIN_I32(a, b) ((int32_t)(a) < (int32_t)(b) ? (a) : (b))
#define MAX_I64(a, b) ((int64_t)(a) > (int64_t)(b) ? (a) : (b))
#define MIN_I64(a, b) ((int64_t)(a) < (int64_t)(b) ? (a) : (b))
#define MAX_U8(a, b) ((a) > (b) ? (a) : (b))
#define MIN_U8(a, b) ((a) < (b) ? (a) : (b))

#define FOLD(name, acc_t, data_t, widen, op)                                                   \
    static void name(void *restrict acc_bytes, const void *restrict src_bytes, size_t count) { \
        acc_t *restrict acc = acc_bytes;                                                       \
        const data_t *restrict src = src_bytes;                                                \
        for (size_t i = 0; i < count; i++) acc[i] = (acc_t)op(acc[i], (acc_t)widen(src[i]));   \
    }

#define LOAD(name, acc_t, data_t, widen)                                                       \
    static void name(void *restrict acc_bytes, const void *restrict src_bytes, size_t count) { \
        acc_t *restrict acc = acc_bytes;                                                       \
        const data_t *restrict src = src_bytes;                                                \
        for (size_t i = 0; i < count; i++) acc[i] = (acc_t)widen(src[i]);                      \
    }

#define STORE(name, acc_t, data_t, narrow)                                                     \
    static void name(void *restrict dst_bytes, const void *restrict acc_bytes, size_t count) { \
        data_t *restrict dst = dst_bytes;                                                      \
        const acc_t *restrict acc = acc_bytes;                                                 \
        for (size_t i = 0; i < count; i++) dst[i] = (data_t)narrow(acc[i]);                    \
    }

#define DIVIDE(name, acc_t)                                      \
    static void name(void *acc_bytes, size_t count, uint32_t by) { \
        acc_t *acc = acc_bytes;                                  \
        acc_t divisor = (acc_t)by;                               \
        for (size_t i = 0; i < count; i++) acc[i] = acc[i] / divisor; \
    }

#define KERNELS(tag, acc_t, data_t, widen, narrow, max, min) \
    LOAD(load_##tag, acc_t, data_t, widen)                   \
    FOLD(sum_##tag, acc_t, data_t, widen, ADD)               \
    FOLD(product_##tag, acc_t, data_t, widen, MULTIPLY)      \
    FOLD(max_##tag, acc_t, data_t, widen, max)               \
    FOLD(min_##tag, acc_t, data_t, widen, min)               \
    STORE(store_##tag, acc_t, data_t, narrow)

KERNELS(f32, float, float, same_float, same_float, MAX_FLOAT, MIN_FLOAT)
KERNELS(f64, double, double, same_double, same_double, MAX_FLOAT, MIN_FLOAT)
KERNELS(f16, float, uint16_t, f16_to_float, float_to_f16, MAX_FLOAT, MIN_FLOAT)
KERNELS(bf16, float, uint16_t, bf16_to_float, float_to_bf16, MAX_FLOAT, MIN_FLOAT)
KERNELS(i32, uint32_t, uint32_t, same_u32, same_u32, MAX_I32, MIN_I32)
KERNELS(i64, uint64_t, uint64_t, same_u64, same_u64, MAX_I64, MIN_I64)
KERNELS(u8, uint8_t, uint8_t, same_u8, same_u8, MAX_U8, MIN_U8)
DIVIDE(divide_f32, float)
DIVIDE(divide_f64, double)
DIVIDE(divide_i32, int32_t) /* towards zero */
DIVIDE(divide_i64, int64_t)
DIVIDE(divide_u8, uint8_t)

typedef void (*fold_fn)(void *restrict acc, const void *restrict src, size_t count);
typedef void (*store_fn)(void *restrict dst, const void *restrict acc, size_t count);
typedef void (*divide_fn)(void *acc, size_t count, uint32_t by);

struct kernels {
    size_t data_bytes, wide_bytes;
    int wide_dtype;
    fold_fn load;
    fold_fn fold[SW_REDOPS];
    store_fn store;
    divide_fn divide;
};

#define ROW(tag, data_t, wide_t, wide_dtype, divide)                                                               \
    {                                                                                                              \
        sizeof(data_t), sizeof(wide_t), wide_dtype, load_##tag,                                                    \
            {sum_##tag, sum_##tag, max_##tag, min_##tag, product_##tag}, store_##tag, divide                        \
    }

static const struct kernels kernels[SW_DTYPES] = {
    [SW_F32] = ROW(f32, float, float, SW_F32, divide_f32),
    [SW_F64] = ROW(f64, double, double, SW_F64, divide_f64),
    [SW_F16] = ROW(f16, uint16_t, float, SW_F32, divide_f32),
    [SW_BF16] = ROW(bf16, uint16_t, float, SW_F32, divide_f32),
    [SW_I32] = ROW(i32, int32_t, int32_t, SW_I32, divide_i32),
    [SW_I64] = ROW(i64, int64_t, int64_t, SW_I64, divide_i64),
    [SW_U8] = ROW(u8, uint8_t, uint8_t, SW_U8, divide_u8),
};

size_t sw_dtype_bytes(int dtype) {
    return dtype >= 0 && dtype < SW_DTYPES ? kernels[dtype].data_bytes : 0;
}

int sw_reduce(int dtype, int redop, void *dst, bool dst_wide, const struct sw_reduce_source *sources, uint32_t source_count,
    uint64_t count, uint32_t divide_by) {
    if (dtype < 0 || dtype >= SW_DTYPES || redop < 0 || redop >= SW_REDOPS || source_count == 0) return SW_ARGUMENT;
    const struct kernels *narrow = &kernels[dtype];
    const struct kernels *wide = &kernels[narrow->wide_dtype];
    _Alignas(64) unsigned char acc[BLOCK * sizeof(double)];
    for (uint64_t at = 0; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? (size_t)(count - at) : BLOCK;
        for (uint32_t s = 0; s < source_count; s++) {
            const struct kernels *k = sources[s].wide ? wide : narrow;
            const unsigned char *src = (const unsigned char *)sources[s].data + at * k->data_bytes;
            if (s == 0)
                k->load(acc, src, n);
            else
                k->fold[redop](acc, src, n);
        }
        if (redop == SW_AVG && divide_by > 1) narrow->divide(acc, n, divide_by);
        const struct kernels *out = dst_wide ? wide : narrow;
        out->store((unsigned char *)dst + at * out->data_bytes, acc, n);
    }
    return SW_OK;
}

int sw_reduce_arrays(
    int dtype, int redop, void *dst, const void *const *sources, int source_count, uint64_t count, uint32_t ranks_in_average) {
    struct sw_reduce_source list[SW_MAX_RANKS];
    if (source_count < 1 || source_count > SW_MAX_RANKS) return SW_ARGUMENT;
    for (int s = 0; s < source_count; s++) list[s] = (struct sw_reduce_source){sources[s], false};
    return sw_reduce(dtype, redop, dst, false, list, (uint32_t)source_count, count, ranks_in_average);
}

/* ---- start-up tests -------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A value that every type can hold exactly, as it can the results of SW_MAX_RANKS ranks: a product has the factors 1 and -1,
   and 2 from the first seven ranks alone; 32 times the largest byte is 224. */
static double test_value(uint64_t seed, int rank, int dtype, int redop, uint64_t i) {
    uint64_t r = mix(seed ^ mix((uint64_t)rank << 40 ^ i));
    if (redop == SW_PRODUCT) {
        static const double factors[4] = {1, 1, -1, 2};
        double f = rank < 7 || (r & 3) != 3 ? factors[r & 3] : 1;
        return dtype == SW_U8 && f < 0 ? 1 : f;
    }
    if (dtype == SW_U8) return (double)(r % 8);
    if (dtype == SW_I32 || dtype == SW_I64) return (double)(int64_t)(r % 2001) - 1000;
    double eighths = (double)(int64_t)(r % 257) - 128; /* at most 9 bits: exact in float16 and, as eighths, near enough in bfloat16 */
    return dtype == SW_BF16 ? (double)(int64_t)(r % 129) - 64 : eighths / 8;
}

static void put(int dtype, void *data, uint64_t i, double value) {
    switch (dtype) {
    case SW_F32: ((float *)data)[i] = (float)value; break;
    case SW_F64: ((double *)data)[i] = value; break;
    case SW_F16: ((uint16_t *)data)[i] = float_to_f16((float)value); break;
    case SW_BF16: ((uint16_t *)data)[i] = float_to_bf16((float)value); break;
    case SW_I32: ((int32_t *)data)[i] = (int32_t)value; break;
    case SW_I64: ((int64_t *)data)[i] = (int64_t)value; break;
    default: ((uint8_t *)data)[i] = (uint8_t)value; break;
    }
}

static double get(int dtype, const void *data, uint64_t i) {
    switch (dtype) {
    case SW_F32: return (double)((const float *)data)[i];
    case SW_F64: return ((const double *)data)[i];
    case SW_F16: return (double)f16_to_float(((const uint16_t *)data)[i]);
    case SW_BF16: return (double)bf16_to_float(((const uint16_t *)data)[i]);
    case SW_I32: return (double)((const int32_t *)data)[i];
    case SW_I64: return (double)((const int64_t *)data)[i];
    default: return (double)((const uint8_t *)data)[i];
    }
}

int sw_test_fill(uint64_t seed, int rank, int dtype, int redop, void *data, uint64_t count) {
    if (sw_dtype_bytes(dtype) == 0) return SW_ARGUMENT;
    for (uint64_t i = 0; i < count; i++) put(dtype, data, i, test_value(seed, rank, dtype, redop, i));
    return SW_OK;
}

int64_t sw_test_check(uint64_t seed, int ranks, int dtype, int redop, const void *data, uint64_t count) {
    if (sw_dtype_bytes(dtype) == 0) return SW_ARGUMENT;
    int64_t wrong = 0;
    bool whole = dtype == SW_I32 || dtype == SW_I64 || dtype == SW_U8;
    /* Sums of such values are exact in float32; only the last rounding of a half type and the division can differ. */
    double tolerance = whole ? 0 : dtype == SW_BF16 ? 1.0 / 128 : dtype == SW_F16 ? 1.0 / 1024 : dtype == SW_F32 ? 1e-6 : 1e-14;
    for (uint64_t i = 0; i < count; i++) {
        double want = test_value(seed, 0, dtype, redop, i);
        for (int r = 1; r < ranks; r++) {
            double v = test_value(seed, r, dtype, redop, i);
            if (redop == SW_PRODUCT)
                want *= v;
            else if (redop == SW_MAX)
                want = v > want ? v : want;
            else if (redop == SW_MIN)
                want = v < want ? v : want;
            else
                want += v;
        }
        if (redop == SW_AVG) want = whole ? trunc(want / ranks) : want / ranks;
        double size = fabs(want) > 1 ? fabs(want) : 1;
        if (!(fabs(get(dtype, data, i) - want) <= tolerance * size)) wrong++;
    }
    return wrong;
}
