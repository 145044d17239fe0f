/* Shared by the files of the library; nothing here is seen from outside. */
#ifndef STELLWERK_INTERNAL_H
#define STELLWERK_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "stellwerk.h"

#define SW_MAGIC 0x53545731u /* "STW1" */
#define SW_VERSION 1

/* Before the payload of every message, in the sender's byte order: all nodes are little-endian, the vote checks it. */
struct sw_header {
    uint32_t magic;
    uint16_t version;
    uint16_t sender;
    uint64_t bytes; /* payload of this message */
    uint64_t sent_ns; /* clock of the sender; only used where both ends share a clock (emulated link) */
    struct sw_call call;
};

/* A transport moves messages between pairs of ranks, in order per pair. */
struct sw_transport {
    /* Hand over a message for every peer of the mask. SW_AGAIN: no room, try again. `src` stays valid until flushed() is true. */
    int (*send)(struct sw_comm *comm, uint32_t mask, const void *src, uint64_t len);
    /* Expect a message. It may be put at `dst`, or stay where the transport has it. */
    int (*recv)(struct sw_comm *comm, int peer, void *dst, uint64_t len);
    /* The oldest expected message of the peer: SW_OK and its address once complete and checked, else SW_AGAIN. */
    int (*arrived)(struct sw_comm *comm, int peer, const void **data);
    /* The message that arrived() returned is no longer needed. */
    int (*release)(struct sw_comm *comm, int peer);
    bool (*flushed)(struct sw_comm *comm);
    /* Move everything forward without sleeping; `peer` is awaited most (-1: none). */
    int (*progress)(struct sw_comm *comm, int peer, bool everything);
    /* Sleep until something may have happened, at most so long. */
    int (*sleep)(struct sw_comm *comm, uint64_t max_ns);
    void (*close)(struct sw_comm *comm);
};

struct sw_comm {
    const struct sw_transport *transport;
    void *state; /* the transport's own */
    int rank;
    int ranks;
    uint32_t pauses; /* waits: so many looks without leaving the processor, */
    uint32_t spins; /* then so many with sched_yield, then sleep */
    struct sw_link link;
    uint64_t link_busy_ns; /* emulated link: the receiver's port is taken until then */

    /* the call in progress */
    struct sw_plan plan;
    const unsigned char *input;
    unsigned char *output;
    unsigned char *scratch;
    uint64_t scratch_bytes;
    uint32_t pc;
    const void *message[SW_MAX_RANKS];
    struct sw_failure failure;
    bool failed;
    uint32_t seq;

    /* read by other threads */
    _Atomic uint64_t calls, done, messages, bytes, blocked;
    _Atomic int32_t waiting_on;
    _Atomic int32_t aborted;
};

static inline uint64_t sw_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void sw_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory"); /* `yield` is a no-op on these cores; isb waits some 10 ns */
#endif
}

static inline void sw_count(_Atomic uint64_t *counter, uint64_t by) {
    /* One writer; a plain read-modify-write would cost a locked instruction per message. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

struct sw_comm *sw_comm_new(int rank, int ranks, const struct sw_transport *transport, const struct sw_link *link);
void sw_comm_free(struct sw_comm *comm);
struct sw_header sw_make_header(const struct sw_comm *comm, uint64_t len);
/* SW_OK, or SW_MISMATCH with the failure filled in. */
int sw_check_header(struct sw_comm *comm, int peer, const struct sw_header *header, uint64_t expected_bytes);
/* When a message may be seen, on the emulated link; 0: at once. */
uint64_t sw_link_ready_ns(struct sw_comm *comm, const struct sw_header *header);
/* Shorten a sleep so that it ends when a held-back message is due; false: that is too soon for the kernel's timers. */
bool sw_until_ready(uint64_t ready_ns, uint64_t *max_ns);
int sw_fail(struct sw_comm *comm, int status, int peer, int system_error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* reduce.c */
struct sw_reduce_source {
    const void *data;
    bool wide;
};
size_t sw_dtype_bytes(int dtype);
/* dst[i] = sources[0][i] op sources[1][i] op ... in exactly this order. dst may be one of the sources. */
int sw_reduce(int dtype, int redop, void *dst, bool dst_wide, const struct sw_reduce_source *sources, uint32_t source_count,
    uint64_t count, uint32_t divide_by);

#endif
