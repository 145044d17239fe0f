/* The production verbs transport over a libibverbs in memory (SIMULATED, see fake_verbs.h), with both halves as rails. */
#include <pthread.h>
#include <stdbool.h>

#include "fake_verbs.h"
#include "schedules.h"

#define RANKS_MAX 8
#define SLOT 65536
#define SLICE 20000000u
#define SLICES_MAX 1500

static struct sw_comm *comms[RANKS_MAX];
static int ranks, rails;
static bool ring; /* the neighbours are behind different devices, and nobody else is reached */
static int statuses[RANKS_MAX];

/* On the ring, the cable between ranks 0 and 1 joins the first devices, the next one the second devices, and so on. */
static uint8_t way(int n, int rank, int peer, int rail) {
    if (!ring) return (uint8_t)rail;
    if (peer == (rank + 1) % n) return (uint8_t)(rank % 2);
    return peer == (rank + n - 1) % n ? (uint8_t)((rank + 1) % 2) : SW_NO_PORT;
}

static const char *open_all(int n, int rail_count, char why[SW_TEXT]) {
    static struct sw_verbs_address own[RANKS_MAX][RANKS_MAX * SW_MAX_RAILS], peers[RANKS_MAX * SW_MAX_RAILS];
    static const struct sw_verbs_port halves[2] = {{"fake0", 1, 3, {0}}, {"fake1", 1, 3, {0}}};
    uint8_t routes[RANKS_MAX * SW_MAX_RAILS];
    ranks = n, rails = rail_count;
    memset(comms, 0, sizeof comms);
    for (int r = 0; r < n; r++) {
        for (int p = 0; p < n; p++)
            for (int rail = 0; rail < rails; rail++) routes[p * rails + rail] = way(n, r, p, rail);
        comms[r] = sw_open_verbs(r, n, halves, ring ? 2 : rails, routes, rails, SLOT, NULL, why);
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

/* Messages go around to the right; what has arrived is passed on. Only neighbours talk to each other. */
static void around(struct schedule *s, int rank, uint64_t count) {
    begin(s, 1, SW_F32, count, ranks);
    s->plan.scratch_bytes = count * 4 * (uint64_t)ranks + 64;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int hop = 1; hop < ranks; hop++) {
        int arriving = (rank + ranks - hop) % ranks;
        struct sw_step *recv = add(s, SW_RECV);
        recv->peer = (uint8_t)left, recv->len = count * 4;
        recv->dst = at(SW_SCRATCH, count * 4 * (uint64_t)arriving, 0);
        struct sw_step *send = add(s, SW_SEND);
        send->mask = 1u << right, send->len = count * 4;
        source(s, send, hop == 1 ? at(SW_INPUT, 0, 0) : at(SW_SCRATCH, count * 4 * (uint64_t)((arriving + 1) % ranks), 0));
        add(s, SW_WAIT)->peer = (uint8_t)left;
        struct sw_step *copy = add(s, SW_COPY);
        copy->len = count * 4;
        copy->dst = at(SW_SCRATCH, count * 4 * (uint64_t)arriving, 0);
        source(s, copy, at(SW_MESSAGE, 0, left));
        add(s, SW_RELEASE)->peer = (uint8_t)left;
    }
    struct sw_step *reduce = add(s, SW_REDUCE);
    reduce->len = count, reduce->finish = 1;
    reduce->dst = at(SW_OUTPUT, 0, 0);
    for (int p = 0; p < ranks; p++) source(s, reduce, p == rank ? at(SW_INPUT, 0, 0) : at(SW_SCRATCH, count * 4 * (uint64_t)p, 0));
}

static void *sums(void *argument) {
    int rank = (int)(intptr_t)argument;
    static const uint64_t counts[] = {1, 7, 64, 1000, 4096, 16384}; /* below and above the size that is split over the rails */
    struct schedule *s = malloc(sizeof *s);
    float *in = malloc(16384 * 4), *out = malloc(16384 * 4);
    for (int round = 0; round < rounds; round++) {
        uint64_t count = counts[round % 6];
        if (ring)
            around(s, rank, count);
        else
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
    CHECK((fake_writes_on(1) > 0) == (rail_count > 1 || ring)); /* both halves, or both neighbours' devices, are really used */
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

static void a_ring_has_a_device_per_neighbour(void) {
    ring = true;
    for (unsigned seed = 1; seed <= 4; seed++) {
        collectives_are_exact(4, 1, 100, seed);
        collectives_are_exact(8, 1, 40, seed);
    }
    char why[SW_TEXT];
    fake_reset(FAKE_FINE, 0, 5);
    CHECK(open_all(4, 1, why) == NULL);
    struct schedule *s = malloc(sizeof *s);
    static float in[64], out[64];
    direct_all_reduce(s, 0, ranks, 64, 64); /* would also send to the opposite rank */
    struct sw_failure failure;
    CHECK(execute(0, s, in, out) == SW_ARGUMENT);
    sw_failure(comms[0], &failure);
    CHECK(failure.peer == 2 && strstr(failure.text, "rank 2 is no neighbour of rank 0"));
    free(s);
    close_all();
    ring = false;
}

static void one_message(struct schedule *s, int kind, int peer) {
    begin(s, 1, SW_U8, 8, ranks);
    s->plan.scratch_bytes = 64;
    struct sw_step *step = add(s, kind);
    step->len = 8;
    if (kind == SW_SEND) {
        step->mask = 1u << peer;
        source(s, step, at(SW_INPUT, 0, 0));
        return;
    }
    step->peer = (uint8_t)peer;
    step->dst = at(SW_SCRATCH, 0, 0);
    add(s, SW_WAIT)->peer = (uint8_t)peer;
    add(s, SW_RELEASE)->peer = (uint8_t)peer;
}

/* A rank that has done its part may close before the others have told it that they have read its messages. */
static void a_peer_that_left_in_good_order_is_missed_only_when_it_is_needed(void) {
    char why[SW_TEXT], in[8] = "1234567", out[8];
    fake_reset(FAKE_FINE, 0, 11);
    CHECK(open_all(3, 1, why) == NULL);
    struct schedule *s = malloc(sizeof *s), nothing;
    begin(&nothing, 1, SW_U8, 8, ranks);
    one_message(s, SW_SEND, 0);
    CHECK(execute(1, s, in, out) == SW_OK);
    sw_close(comms[1]);
    comms[1] = NULL;
    CHECK(execute(2, &nothing, in, out) == SW_OK);
    one_message(s, SW_RECV, 1);
    CHECK(execute(0, s, in, out) == SW_OK);
    for (int again = 0; again < 20; again++) {
        one_message(s, SW_SEND, 0);
        CHECK(execute(2, s, in, out) == SW_OK);
        one_message(s, SW_RECV, 2);
        CHECK(execute(0, s, in, out) == SW_OK);
    }
    one_message(s, SW_RECV, 1);
    struct sw_failure failure;
    CHECK(execute(0, s, in, out) == SW_CLOSED);
    sw_failure(comms[0], &failure);
    CHECK(failure.peer == 1 && strstr(failure.text, "queue pair to rank 1 over rail 0 (fake0) broke: no answer; nothing answers"));
    free(s);
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
    a_ring_has_a_device_per_neighbour();
    a_peer_that_left_in_good_order_is_missed_only_when_it_is_needed();
    cannot_open(FAKE_NO_DEVICE, "fake0 not found");
    cannot_open(FAKE_PORT_DOWN, "port 1 is not active");
    cannot_open(FAKE_NO_MEMORY_REGISTRATION, "locked memory");
    cannot_open(FAKE_UNREACHABLE, "rank 1 cannot be reached over rail 0 (fake0)");
    puts("verbs: fine");
    return 0;
}
