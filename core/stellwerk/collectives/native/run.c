/* Executes a schedule over a transport. The executor can be left at any wait (after a time slice) and entered again,
 * so that Python sees signals and deadlines; no state lives on the stack between two slices. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#ifndef SW_SOURCES
#define SW_SOURCES "unknown"
#endif
#define DEFAULT_SPINS 200
#define LOOK_AROUND 8 /* every so many spins all peers are served, not only the awaited one */

int sw_abi(void) { return SW_ABI; }
const char *sw_sources(void) { return SW_SOURCES; }
uint64_t sw_now_ns(void) { return sw_clock_ns(); }

uint64_t sw_struct_sizes(void) {
    return sizeof(struct sw_call) + (sizeof(struct sw_step) << 8) + (sizeof(struct sw_operand) << 16) + (sizeof(struct sw_plan) << 24) +
        ((uint64_t)sizeof(struct sw_failure) << 32) + ((uint64_t)sizeof(struct sw_verbs_address) << 44);
}

struct sw_comm *sw_comm_new(int rank, int ranks, const struct sw_transport *transport, const struct sw_link *link) {
    if (ranks < 1 || ranks > SW_MAX_RANKS || rank < 0 || rank >= ranks) return NULL;
    struct sw_comm *comm = calloc(1, sizeof *comm);
    if (!comm) return NULL;
    comm->transport = transport;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->spins = DEFAULT_SPINS;
    if (link) comm->link = *link;
    atomic_store(&comm->waiting_on, -1);
    return comm;
}

void sw_comm_free(struct sw_comm *comm) {
    free(comm->scratch);
    free(comm);
}

void sw_close(struct sw_comm *comm) {
    if (!comm) return;
    comm->transport->close(comm);
    sw_comm_free(comm);
}

int sw_fail(struct sw_comm *comm, int status, int peer, int system_error, const char *format, ...) {
    comm->failed = true;
    comm->failure.status = status;
    comm->failure.peer = peer;
    comm->failure.system_error = system_error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(comm->failure.text, sizeof comm->failure.text, format, arguments);
    va_end(arguments);
    return status;
}

struct sw_header sw_make_header(const struct sw_comm *comm, uint64_t len) {
    struct sw_header header = {SW_MAGIC, SW_VERSION, (uint16_t)comm->rank, len, 0, comm->plan.call};
    if (comm->link.delay_ns || comm->link.bytes_per_s) header.sent_ns = sw_clock_ns();
    return header;
}

static bool same_call(const struct sw_call *a, const struct sw_call *b) {
    return a->seq == b->seq && a->op == b->op && a->count == b->count && a->dtype == b->dtype && a->redop == b->redop &&
        a->algorithm == b->algorithm && a->root == b->root;
}

int sw_check_header(struct sw_comm *comm, int peer, const struct sw_header *header, uint64_t expected_bytes) {
    bool framed = header->magic == SW_MAGIC && header->version == SW_VERSION && header->sender == peer;
    if (framed && header->bytes == expected_bytes && same_call(&header->call, &comm->plan.call)) return SW_OK;
    comm->failure.expected = comm->plan.call;
    comm->failure.got = header->call;
    comm->failure.expected_bytes = expected_bytes;
    comm->failure.got_bytes = header->bytes;
    if (!framed) return sw_fail(comm, SW_IO, peer, 0, "the bytes from rank %d are not a message of this protocol", peer);
    return sw_fail(comm, SW_MISMATCH, peer, 0, "rank %d is in another operation", peer);
}

uint64_t sw_link_ready_ns(struct sw_comm *comm, const struct sw_header *header) {
    const struct sw_link *link = &comm->link;
    if (!link->delay_ns && !link->bytes_per_s) return 0;
    uint64_t start = header->sent_ns + link->delay_ns;
    if (start < comm->link_busy_ns) start = comm->link_busy_ns;
    /* in floating point: bytes * 1e9 would overflow above 18 GB */
    uint64_t wire = link->bytes_per_s ? (uint64_t)((double)header->bytes * 1e9 / (double)link->bytes_per_s) : 0;
    comm->link_busy_ns = start + wire;
    return start + wire;
}

bool sw_until_ready(uint64_t ready_ns, uint64_t *max_ns) {
    const uint64_t slack_ns = 50000; /* default timer slack of Linux */
    uint64_t now = sw_clock_ns();
    uint64_t left = ready_ns > now ? ready_ns - now : 0;
    if (left <= slack_ns) {
        sched_yield();
        return false;
    }
    if (left - slack_ns < *max_ns) *max_ns = left - slack_ns;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static const void *address(const struct sw_comm *comm, const struct sw_operand *operand) {
    switch (operand->where) {
    case SW_INPUT: return comm->input + operand->offset;
    case SW_OUTPUT: return comm->output + operand->offset;
    case SW_SCRATCH: return comm->scratch + operand->offset;
    default: return (const unsigned char *)comm->message[operand->peer] + operand->offset;
    }
}

/* Only OUTPUT and SCRATCH are written; the schedules are checked for that in Python's tests. */
static void *target(struct sw_comm *comm, const struct sw_operand *operand) {
    return (operand->where == SW_SCRATCH ? comm->scratch : comm->output) + operand->offset;
}

static int reduce_step(struct sw_comm *comm, const struct sw_step *step) {
    struct sw_reduce_source sources[SW_MAX_RANKS];
    if (step->sources > SW_MAX_RANKS) return sw_fail(comm, SW_ARGUMENT, -1, 0, "too many sources in a reduction");
    for (uint32_t s = 0; s < step->sources; s++) {
        const struct sw_operand *operand = &comm->plan.sources[step->first + s];
        sources[s] = (struct sw_reduce_source){address(comm, operand), operand->wide != 0};
    }
    uint32_t divide_by = step->finish ? comm->plan.ranks_in_average : 1;
    int status = sw_reduce(comm->plan.call.dtype, comm->plan.call.redop, target(comm, &step->dst), step->dst.wide != 0, sources,
        step->sources, step->len, divide_by);
    return status == SW_OK ? SW_OK : sw_fail(comm, status, -1, 0, "no reduction for this type and operation");
}

static int copy_step(struct sw_comm *comm, const struct sw_step *step) {
    const void *src = address(comm, &comm->plan.sources[step->first]);
    void *dst = target(comm, &step->dst);
    if (src != dst && step->len) memmove(dst, src, step->len);
    return SW_OK;
}

static int do_step(struct sw_comm *comm, const struct sw_step *step) {
    const struct sw_transport *transport = comm->transport;
    switch (step->kind) {
    case SW_SEND: {
        int status = transport->send(comm, step->mask, address(comm, &comm->plan.sources[step->first]), step->len);
        if (status == SW_OK) {
            sw_count(&comm->messages, (uint64_t)__builtin_popcount(step->mask));
            sw_count(&comm->bytes, step->len * (uint64_t)__builtin_popcount(step->mask));
        }
        return status;
    }
    case SW_RECV: return transport->recv(comm, step->peer, target(comm, &step->dst), step->len);
    case SW_WAIT: return transport->arrived(comm, step->peer, &comm->message[step->peer]);
    case SW_RELEASE: return transport->release(comm, step->peer);
    case SW_COPY: return copy_step(comm, step);
    case SW_REDUCE: return reduce_step(comm, step);
    case SW_FLUSH: return transport->flushed(comm) ? SW_OK : SW_AGAIN;
    default: return sw_fail(comm, SW_ARGUMENT, -1, 0, "unknown step %d", step->kind);
    }
}

/* Until the step succeeds: spin a little, giving the processor away each time, then sleep in the kernel. A wake-up
 * costs tens of microseconds, so sleeping is the second choice; but with more ranks than processors the peer can only
 * answer when we let go. */
static int wait_for_step(struct sw_comm *comm, const struct sw_step *step, uint64_t deadline_ns) {
    int peer = step->kind == SW_WAIT ? step->peer : -1;
    atomic_store_explicit(&comm->waiting_on, peer, memory_order_relaxed);
    for (uint32_t spin = 0;; spin++) {
        if (atomic_load_explicit(&comm->aborted, memory_order_acquire)) return sw_fail(comm, SW_ABORTED, -1, 0, "aborted");
        bool sleeping = spin >= comm->pauses + comm->spins;
        int status = comm->transport->progress(comm, peer, sleeping || peer < 0 || spin % LOOK_AROUND == LOOK_AROUND - 1);
        if (status < 0) return status;
        status = do_step(comm, step);
        if (status != SW_AGAIN) {
            atomic_store_explicit(&comm->waiting_on, -1, memory_order_relaxed);
            return status;
        }
        if (spin < comm->pauses) {
            sw_relax();
            continue;
        }
        if (!sleeping) {
            sched_yield();
            continue;
        }
        uint64_t now = sw_clock_ns();
        if (now >= deadline_ns) return SW_AGAIN;
        sw_count(&comm->blocked, 1);
        status = comm->transport->sleep(comm, deadline_ns - now);
        if (status < 0) return status;
    }
}

int sw_resume(struct sw_comm *comm, uint64_t slice_ns) {
    if (comm->failed) return comm->failure.status;
    if (atomic_load_explicit(&comm->aborted, memory_order_acquire)) return sw_fail(comm, SW_ABORTED, -1, 0, "aborted");
    uint64_t deadline_ns = 0;
    while (comm->pc < comm->plan.step_count) {
        const struct sw_step *step = &comm->plan.steps[comm->pc];
        int status = do_step(comm, step);
        if (status == SW_AGAIN) {
            if (!deadline_ns) deadline_ns = sw_clock_ns() + slice_ns;
            status = wait_for_step(comm, step, deadline_ns);
        }
        if (status != SW_OK) return status;
        comm->pc++;
    }
    sw_count(&comm->done, 1);
    return SW_OK;
}

int sw_execute(struct sw_comm *comm, const struct sw_plan *plan, const void *input, void *output, uint64_t slice_ns) {
    if (comm->failed) return comm->failure.status;
    if (plan->scratch_bytes > comm->scratch_bytes) {
        void *bigger = NULL;
        /* page-aligned, so that a transport that registers memory could use it */
        if (posix_memalign(&bigger, 4096, plan->scratch_bytes)) return sw_fail(comm, SW_MEMORY, -1, 0, "no memory for %llu bytes", (unsigned long long)plan->scratch_bytes);
        free(comm->scratch);
        comm->scratch = bigger;
        comm->scratch_bytes = plan->scratch_bytes;
    }
    comm->plan = *plan;
    comm->plan.call.seq = ++comm->seq;
    comm->input = input;
    comm->output = output;
    comm->pc = 0;
    sw_count(&comm->calls, 1);
    return sw_resume(comm, slice_ns);
}

void sw_set_waiting(struct sw_comm *comm, uint32_t pauses, uint32_t spins) {
    comm->pauses = pauses;
    comm->spins = spins;
}

void sw_abort(struct sw_comm *comm) { atomic_store_explicit(&comm->aborted, 1, memory_order_release); }

void sw_failure(const struct sw_comm *comm, struct sw_failure *out) { *out = comm->failure; }

void sw_health(const struct sw_comm *comm, struct sw_health *out) {
    out->calls = atomic_load_explicit(&comm->calls, memory_order_relaxed);
    out->done = atomic_load_explicit(&comm->done, memory_order_relaxed);
    out->messages = atomic_load_explicit(&comm->messages, memory_order_relaxed);
    out->bytes = atomic_load_explicit(&comm->bytes, memory_order_relaxed);
    out->blocked = atomic_load_explicit(&comm->blocked, memory_order_relaxed);
    out->waiting_on = atomic_load_explicit(&comm->waiting_on, memory_order_relaxed);
    out->aborted = atomic_load_explicit(&comm->aborted, memory_order_relaxed);
}
