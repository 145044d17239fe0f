/* TCP (over socket pairs) and shared memory, ranks as threads: sums, rings that fill up, lost and lying peers, abort. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "schedules.h"

#define RANKS_MAX 8
#define SLICE 20000000u /* 20 ms */
#define SLICES_MAX 1500 /* half a minute: a hang becomes a failure */

static int sockets[RANKS_MAX][RANKS_MAX];
static void *memory;
static uint64_t memory_bytes;
static int ranks;
static bool shared;
static struct sw_comm *comms[RANKS_MAX];

static void set_up(bool over_shared_memory, int n, uint64_t ring_bytes, struct sw_link link) {
    ranks = n, shared = over_shared_memory;
    memory_bytes = sw_shm_bytes(n, ring_bytes);
    memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            int pair[2] = {-1, -1};
            if (a != b) CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
            sockets[a][b] = pair[0], sockets[b][a] = pair[1];
        }
    for (int r = 0; r < n; r++) {
        struct sw_shm_config shm = {memory, ring_bytes, link};
        struct sw_tcp_config tcp = {sockets[r], link};
        comms[r] = shared ? sw_open_shm(r, n, &shm) : sw_open_tcp(r, n, &tcp);
        CHECK(comms[r]);
        sw_set_waiting(comms[r], 0, 20);
    }
}

static void tear_down(void) {
    for (int r = 0; r < ranks; r++) {
        sw_close(comms[r]);
        for (int p = 0; p < ranks; p++)
            if (sockets[r][p] >= 0) close(sockets[r][p]);
    }
    munmap(memory, memory_bytes);
}

static int execute(int rank, const struct schedule *s, const void *in, void *out) {
    int status = sw_execute(comms[rank], &s->plan, in, out, SLICE);
    for (int slices = 0; status == SW_AGAIN && slices < SLICES_MAX; slices++) status = sw_resume(comms[rank], SLICE);
    return status;
}

static void on_all_ranks(void *(*program)(void *)) {
    pthread_t threads[RANKS_MAX];
    for (int r = 0; r < ranks; r++) CHECK(pthread_create(&threads[r], NULL, program, (void *)(intptr_t)r) == 0);
    for (int r = 0; r < ranks; r++) CHECK(pthread_join(threads[r], NULL) == 0);
}

static void *sums(void *argument) {
    int rank = (int)(intptr_t)argument;
    static const uint64_t counts[] = {1, 7, 64, 1000, 4096, 20000};
    struct schedule *s = malloc(sizeof *s);
    float *in = malloc(20000 * 4), *out = malloc(20000 * 4);
    for (int round = 0; round < 40; round++) {
        uint64_t count = counts[round % 6];
        direct_all_reduce(s, rank, ranks, count, 4096);
        sw_test_fill((uint64_t)round, rank, SW_F32, SW_SUM, in, count);
        CHECK(execute(rank, s, in, out) == SW_OK);
        CHECK(sw_test_check((uint64_t)round, ranks, SW_F32, SW_SUM, out, count) == 0);
    }
    struct sw_health health;
    sw_health(comms[rank], &health);
    CHECK(health.calls == 40 && health.done == 40 && health.waiting_on == -1 && (health.messages > 0 || ranks == 1));
    free(s), free(in), free(out);
    return NULL;
}

/* Found by a benchmark: pieces of different sizes blocked each other when the ring went back to its start too early. */
static void *full_rings(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule *s = malloc(sizeof *s);
    unsigned char *in = calloc(1, 1 << 16);
    static const uint64_t units[] = {4096, 64, 16384, 512, 30000};
    for (int round = 0; round < 60; round++) {
        uneven_exchange(s, rank, ranks, units[round % 5]);
        CHECK(execute(rank, s, in, in) == SW_OK);
    }
    free(s), free(in);
    return NULL;
}

static void *another_count(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule s;
    float in[100] = {0}, out[100];
    direct_all_reduce(&s, rank, ranks, rank == 1 ? 99 : 100, 100);
    int status = execute(rank, &s, in, out);
    CHECK(status == SW_MISMATCH);
    struct sw_failure failure;
    sw_failure(comms[rank], &failure);
    CHECK(failure.status == SW_MISMATCH && failure.peer >= 0 && failure.peer != rank);
    CHECK((failure.expected.count == 99) != (failure.got.count == 99));
    CHECK(execute(rank, &s, in, out) == SW_MISMATCH); /* it stays broken */
    return NULL;
}

static void *one_leaves(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule s;
    float in[100] = {0}, out[100];
    direct_all_reduce(&s, rank, ranks, 100, 100);
    CHECK(execute(rank, &s, in, out) == SW_OK);
    if (rank == 1) {
        for (int p = 0; p < ranks; p++)
            if (p != 1) shutdown(sockets[1][p], SHUT_RDWR);
        return NULL;
    }
    int status = execute(rank, &s, in, out);
    struct sw_failure failure;
    sw_failure(comms[rank], &failure);
    CHECK(status == SW_CLOSED && failure.peer == 1);
    return NULL;
}

static void *nobody_comes(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule s;
    float in[100] = {0}, out[100];
    if (rank != 0) return NULL;
    direct_all_reduce(&s, rank, ranks, 100, 100);
    CHECK(sw_execute(comms[0], &s.plan, in, out, SLICE) == SW_AGAIN);
    struct sw_health health;
    sw_health(comms[0], &health);
    CHECK(health.waiting_on == 1 && health.calls == 1 && health.done == 0);
    sw_abort(comms[0]);
    CHECK(sw_resume(comms[0], SLICE) == SW_ABORTED);
    CHECK(sw_execute(comms[0], &s.plan, in, out, 1000000) == SW_ABORTED);
    return NULL;
}

static void *garbage(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule s;
    float in[100] = {0}, out[100];
    if (rank == 1) {
        char noise[512];
        memset(noise, 'x', sizeof noise);
        for (int p = 0; p < ranks; p++)
            if (p != 1) CHECK(send(sockets[1][p], noise, sizeof noise, 0) == sizeof noise);
        return NULL;
    }
    direct_all_reduce(&s, rank, ranks, 100, 100);
    CHECK(execute(rank, &s, in, out) == SW_IO);
    return NULL;
}

static void *timed(void *argument) {
    int rank = (int)(intptr_t)argument;
    struct schedule s;
    float in[100] = {0}, out[100];
    direct_all_reduce(&s, rank, ranks, 100, 100);
    uint64_t begun = sw_now_ns();
    for (int i = 0; i < 5; i++) CHECK(execute(rank, &s, in, out) == SW_OK);
    CHECK(sw_now_ns() - begun >= 5 * 3000000u); /* not faster than the emulated link allows */
    return NULL;
}

int main(void) {
    struct sw_link real = {0, 0}, slow = {3000000, 1000000000};
    static const int many[] = {1, 2, 3, 5, 8};
    for (int over = 0; over < 2; over++) {
        for (int i = 0; i < 5; i++) {
            set_up(over, many[i], 1 << 18, real);
            on_all_ranks(sums);
            tear_down();
        }
        set_up(over, 8, 1 << 19, real); /* one round of the exchange fits, two do not */
        on_all_ranks(full_rings);
        tear_down();
        set_up(over, 3, 1 << 18, real);
        on_all_ranks(another_count);
        tear_down();
        set_up(over, 2, 1 << 18, real);
        on_all_ranks(nobody_comes);
        tear_down();
        set_up(over, 3, 1 << 18, slow);
        on_all_ranks(timed);
        tear_down();
    }
    set_up(false, 3, 1 << 18, real);
    on_all_ranks(one_leaves);
    tear_down();
    set_up(false, 3, 1 << 18, real);
    on_all_ranks(garbage);
    tear_down();
    puts("transports: fine");
    return 0;
}
