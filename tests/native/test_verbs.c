/* The production verbs transport over a libibverbs in memory (SIMULATED, see fake_verbs.h), with both halves as rails. */
#include <pthread.h>

#include "fake_verbs.h"
#include "schedules.h"

#define RANKS_MAX 8
#define SLOT 65536
#define SLICE 20000000u
#define SLICES_MAX 1500

static struct sw_comm *comms[RANKS_MAX];
static int ranks, rails;
static int statuses[RANKS_MAX];

static const char *open_all(int n, int rail_count, char why[SW_TEXT]) {
    static struct sw_verbs_address own[RANKS_MAX][RANKS_MAX * SW_MAX_RAILS], peers[RANKS_MAX * SW_MAX_RAILS];
    static const struct sw_verbs_rail halves[2] = {{"fake0", 1, 3, {0}}, {"fake1", 1, 3, {0}}};
    ranks = n, rails = rail_count;
    memset(comms, 0, sizeof comms);
    for (int r = 0; r < n; r++) {
        comms[r] = sw_open_verbs(r, n, halves, rails, SLOT, NULL, why);
        if (!comms[r]) return why;
        sw_set_waiting(comms[r], 0, 20);
        CHECK(sw_verbs_addresses(comms[r], own[r]) == SW_OK);
    }
    for (int r = 0; r < n; r++) {
        for (int p = 0; p < n; p++)
            for (int rail = 0; rail < rails; rail++) peers[p * rails + rail] = own[p][r * rails + rail];
        if (sw_verbs_join(comms[r], peers) != SW_OK) {
            struct sw_failure failure;
            sw_failure(comms[r], &failure);
            snprintf(why, SW_TEXT, "%s", failure.text);
            return why;
        }
    }
    return NULL;
}

static void close_all(void) {
    for (int r = 0; r < ranks; r++) sw_close(comms[r]);
    CHECK(fake_open_objects() == 0);
}

static int execute(int rank, const struct schedule *s, const void *in, void *out) {
    int status = sw_execute(comms[rank], &s->plan, in, out, SLICE);
    for (int slices = 0; status == SW_AGAIN && slices < SLICES_MAX; slices++) status = sw_resume(comms[rank], SLICE);
    return status;
}

static int rounds;

static void *sums(void *argument) {
    int rank = (int)(intptr_t)argument;
    static const uint64_t counts[] = {1, 7, 64, 1000, 4096, 16384}; /* below and above the size that is split over the rails */
    struct schedule *s = malloc(sizeof *s);
    float *in = malloc(16384 * 4), *out = malloc(16384 * 4);
    for (int round = 0; round < rounds; round++) {
        uint64_t count = counts[round % 6];
        direct_all_reduce(s, rank, ranks, count, 8192);
        sw_test_fill((uint64_t)round, rank, SW_F32, SW_SUM, in, count);
        statuses[rank] = execute(rank, s, in, out);
        if (statuses[rank] != SW_OK) break;
        CHECK(sw_test_check((uint64_t)round, ranks, SW_F32, SW_SUM, out, count) == 0);
    }
    free(s), free(in), free(out);
    if (statuses[rank] != SW_OK) /* as Python does: one rank's failure ends all */
        for (int p = 0; p < ranks; p++) sw_abort(comms[p]);
    return NULL;
}

static void *another_count(void *argument) {
    int rank = (int)(intptr_t)argument;
    static float in[2][20000], out[2][20000];
    struct schedule *s = malloc(sizeof *s);
    /* one is small and takes one rail, the other is large and takes two */
    direct_all_reduce(s, rank, ranks, rank == 1 ? 100 : 15000, 15000);
    statuses[rank] = execute(rank, s, in[rank], out[rank]);
    free(s);
    return NULL;
}

static void on_all_ranks(void *(*program)(void *)) {
    pthread_t threads[RANKS_MAX];
    memset(statuses, 0, sizeof statuses);
    for (int r = 0; r < ranks; r++) CHECK(pthread_create(&threads[r], NULL, program, (void *)(intptr_t)r) == 0);
    for (int r = 0; r < ranks; r++) CHECK(pthread_join(threads[r], NULL) == 0);
}

static void collectives_are_exact(int n, int rail_count, int how_many, unsigned seed) {
    char why[SW_TEXT];
    fake_reset(FAKE_FINE, 0, seed);
    rounds = how_many;
    CHECK(open_all(n, rail_count, why) == NULL);
    on_all_ranks(sums);
    for (int r = 0; r < n; r++) CHECK(statuses[r] == SW_OK);
    CHECK(fake_writes_on(0) > 0);
    CHECK((fake_writes_on(1) > 0) == (rail_count > 1)); /* both halves are really used */
    close_all();
}

static void a_fault_ends_it(enum fake_fault fault, unsigned after, unsigned seed) {
    char why[SW_TEXT];
    fake_reset(fault, after, seed);
    rounds = 400;
    CHECK(open_all(3, 2, why) == NULL);
    on_all_ranks(sums);
    int closed = 0;
    for (int r = 0; r < ranks; r++) {
        struct sw_failure failure;
        sw_failure(comms[r], &failure);
        CHECK(statuses[r] == SW_CLOSED || statuses[r] == SW_ABORTED);
        if (statuses[r] == SW_CLOSED) {
            closed++;
            CHECK(failure.peer >= 0 && failure.peer != r && strstr(failure.text, "queue pair"));
        }
    }
    CHECK(closed >= 1);
    close_all();
}

static void cannot_open(enum fake_fault fault, const char *words) {
    char why[SW_TEXT] = "";
    fake_reset(fault, 0, 1);
    CHECK(open_all(2, 2, why) == why);
    CHECK(strstr(why, words));
    close_all();
}

int main(void) {
    for (unsigned seed = 1; seed <= 6; seed++) {
        collectives_are_exact(2, 2, 200, seed);
        collectives_are_exact(4, 2, 100, seed);
    }
    collectives_are_exact(3, 1, 100, 9);
    collectives_are_exact(8, 2, 40, 7);
    for (unsigned seed = 1; seed <= 8; seed++) {
        a_fault_ends_it(FAKE_BROKEN_QP, 10 + 37 * seed, seed);
        a_fault_ends_it(FAKE_FULL_QUEUE, 5 + 23 * seed, seed);
    }
    char why[SW_TEXT];
    fake_reset(FAKE_FINE, 0, 3);
    CHECK(open_all(2, 2, why) == NULL);
    on_all_ranks(another_count);
    CHECK(statuses[0] == SW_MISMATCH && statuses[1] == SW_MISMATCH);
    close_all();
    cannot_open(FAKE_NO_DEVICE, "fake0 not found");
    cannot_open(FAKE_PORT_DOWN, "port 1 is not active");
    cannot_open(FAKE_NO_MEMORY_REGISTRATION, "locked memory");
    cannot_open(FAKE_UNREACHABLE, "rail 0 cannot reach rank 1");
    puts("verbs: fine");
    return 0;
}
