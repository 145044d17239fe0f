/* Messages by RDMA WRITE between reliable-connected queue pairs, one per peer and rail (a rail is one half of a port).
 * Each pair has a port of its own: on a switch all peers are behind the same one, on a ring each neighbour behind another.
 *
 * Every rank registers one region: slots that peers write messages into, flags that say which message a slot holds,
 * counters by which peers say how many messages they are done with, and slots from which the own messages are sent.
 * A message is written with its header, then, on the same queue pair, its number is written into the flag: writes of
 * one queue pair arrive in order, so the flag cannot overtake the data. Large messages are split over the rails, with a
 * flag on each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs.h"

#ifdef HAVE_VERBS

#define SPLIT 16384 /* smaller messages take one rail: a second flag would cost more than it brings */
#define NAP_NS 20000

/* ---- work requests ----------------------------------------------------------------------------------------------- */

/* A completion says whose it is and how many requests it stands for: only the last of a chain is signalled. */
#define MESSAGE 2 /* data and flag */
#define COUNTER 1

static uint64_t tag(int peer, int rail, uint32_t requests) { return (uint64_t)peer | (uint64_t)rail << 8 | (uint64_t)requests << 16; }

static int broke(struct sw_comm *comm, int peer, int r, enum ibv_wc_status status) {
    const struct verbs *v = verbs_of(comm);
    const struct port *port = v->pairs[peer][r].port;
    struct ibv_port_attr now;
    const char *what = v->api.wc_status_str(status);
    const char *hint = status == IBV_WC_RETRY_EXC_ERR ? "; nothing answers: wrong cable, subnet or GID?" : "";
    if (v->api.query_port(port->context, port->number, &now) == 0 && now.state != IBV_PORT_ACTIVE) /* not the peer's fault */
        return sw_fail(comm, SW_IO, -1, 0, "its port %s is down: rail %d to rank %d broke (%s)", port->device, r, peer, what);
    return sw_fail(comm, SW_CLOSED, peer, 0, "the queue pair to rank %d over rail %d (%s) broke: %s%s", peer, r, port->device, what, hint);
}

static int complete(struct sw_comm *comm, const struct ibv_wc *done) {
    int peer = (int)(done->wr_id & 0xff), r = (int)(done->wr_id >> 8 & 0xff);
    uint32_t requests = (uint32_t)(done->wr_id >> 16);
    struct pair *pair = &verbs_of(comm)->pairs[peer][r];
    if (done->status != IBV_WC_SUCCESS) {
        /* A peer that has ended its last call may be gone before we have told it that we are done with its messages.
         * That alone harms nobody; that it is gone is said when something is expected from it. */
        if (requests != COUNTER) return broke(comm, peer, r, done->status);
        if (!pair->broken) pair->broken = done->status;
    }
    pair->outstanding -= requests;
    return SW_OK;
}

static int reap(struct sw_comm *comm) {
    struct verbs *v = verbs_of(comm);
    for (int p = 0; p < v->port_count; p++) {
        const struct port *port = &v->ports[p];
        struct ibv_wc done[16];
        int count;
        while ((count = port->context->ops.poll_cq(port->cq, 16, done)) > 0)
            for (int i = 0; i < count; i++) {
                int status = complete(comm, &done[i]);
                if (status != SW_OK) return status;
            }
        if (count < 0) return sw_fail(comm, SW_IO, -1, errno, "the completion queue of %s cannot be read", port->device);
    }
    return SW_OK;
}

static int post(struct sw_comm *comm, int peer, int r, struct ibv_send_wr *first, uint32_t requests) {
    struct pair *pair = &verbs_of(comm)->pairs[peer][r];
    struct ibv_send_wr *bad = NULL;
    int error = pair->qp->context->ops.post_send(pair->qp, first, &bad);
    if (error)
        return sw_fail(comm, SW_CLOSED, peer, error, "the queue pair to rank %d over rail %d (%s) takes nothing: %s", peer, r, pair->port->device,
            strerror(error));
    pair->outstanding += requests;
    return SW_OK;
}

/* Write four bytes into a word of the peer's region, behind `data` if there is some. */
static int write_word(struct sw_comm *comm, int peer, int r, uint64_t offset, uint32_t value, struct ibv_send_wr *data) {
    struct pair *pair = &verbs_of(comm)->pairs[peer][r];
    uint32_t requests = data ? MESSAGE : COUNTER;
    struct ibv_sge bytes = {.addr = (uint64_t)(uintptr_t)&value, .length = sizeof value}; /* inline: read before post returns */
    struct ibv_send_wr flag = {
        .wr_id = tag(peer, r, requests),
        .sg_list = &bytes,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = pair->peer.base + offset, .rkey = pair->peer.key},
    };
    if (data) data->next = &flag;
    return post(comm, peer, r, data ? data : &flag, requests);
}

/* Bytes of a slot (header included) that a rail carries. Both sides compute it from the length alone. */
static void stripe(const struct verbs *v, uint64_t len, int r, uint64_t *start, uint64_t *size) {
    uint64_t whole = sizeof(struct sw_header) + len;
    if (len < SPLIT) {
        *start = 0, *size = r == 0 ? whole : 0;
        return;
    }
    uint64_t part = (whole / (uint64_t)v->rails + LINE - 1) / LINE * LINE;
    *start = part * (uint64_t)r;
    *size = r == v->rails - 1 ? whole - *start : part;
}

static int send_to(struct sw_comm *comm, int peer, uint32_t stage, uint64_t len) {
    struct verbs *v = verbs_of(comm);
    uint32_t index = v->posted[peer] + 1, slot = v->posted[peer] % SLOTS;
    for (int r = 0; r < v->rails; r++) {
        uint64_t start, size;
        stripe(v, len, r, &start, &size);
        if (!size) continue;
        const struct pair *pair = &v->pairs[peer][r];
        struct ibv_sge bytes = {
            .addr = (uint64_t)(uintptr_t)(v->region + stage_at(comm, v, stage) + start), .length = (uint32_t)size, .lkey = pair->port->mr->lkey};
        struct ibv_send_wr data = {
            .wr_id = tag(peer, r, MESSAGE), /* only seen if it fails */
            .sg_list = &bytes,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .wr.rdma = {.remote_addr = pair->peer.base + slot_at(comm, v, comm->rank, slot) + start, .rkey = pair->peer.key},
        };
        int status = write_word(comm, peer, r, flag_at(v, comm->rank, r, slot), index, &data);
        if (status != SW_OK) return status;
    }
    v->posted[peer] = index;
    return SW_OK;
}

/* ---- the transport ----------------------------------------------------------------------------------------------- */

static bool is_read(struct sw_comm *comm, int peer, uint32_t index) {
    struct verbs *v = verbs_of(comm);
    uint32_t done = atomic_load_explicit(&word(v, done_at(comm, v, peer))->value, memory_order_acquire);
    return (int32_t)(done - index) >= 0;
}

static bool has_room(struct sw_comm *comm, uint32_t mask, const struct stage *stage) {
    struct verbs *v = verbs_of(comm);
    for (uint32_t rest = stage->mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        if (!v->pairs[peer][0].broken && !is_read(comm, peer, stage->index[peer])) return false;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        if (v->posted[peer] >= SLOTS && !is_read(comm, peer, v->posted[peer] - SLOTS + 1)) return false;
        for (int r = 0; r < v->rails; r++)
            if (v->pairs[peer][r].outstanding > DEPTH - 4) return false;
    }
    return true;
}

static int check_reachable(struct sw_comm *comm, uint32_t mask) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        const struct pair *pair = &verbs_of(comm)->pairs[peer][0];
        if (!pair->port) return sw_fail(comm, SW_ARGUMENT, peer, 0, "rank %d is no neighbour of rank %d: no device reaches it", peer, comm->rank);
        if (pair->broken) return broke(comm, peer, 0, pair->broken);
    }
    return SW_OK;
}

static int verbs_send(struct sw_comm *comm, uint32_t mask, const void *src, uint64_t len) {
    struct verbs *v = verbs_of(comm);
    if (len > v->slot_bytes) return sw_fail(comm, SW_ARGUMENT, -1, 0, "a message of %llu bytes exceeds a slot", (unsigned long long)len);
    int reachable = check_reachable(comm, mask);
    if (reachable != SW_OK) return reachable;
    uint32_t stage = v->staged % v->stage_count;
    if (!has_room(comm, mask, &v->stages[stage])) {
        int status = reap(comm);
        return status == SW_OK ? SW_AGAIN : status;
    }
    unsigned char *place = v->region + stage_at(comm, v, stage);
    struct sw_header header = sw_make_header(comm, len);
    memcpy(place, &header, sizeof header);
    if (len) memcpy(place + sizeof header, src, len);
    v->stages[stage].mask = mask;
    for (int i = 1; i < comm->ranks; i++) {
        int peer = (comm->rank + i) % comm->ranks;
        if (!(mask >> peer & 1u)) continue;
        int status = send_to(comm, peer, stage, len);
        if (status != SW_OK) return status;
        v->stages[stage].index[peer] = v->posted[peer];
    }
    v->staged++;
    return SW_OK;
}

static int verbs_recv(struct sw_comm *comm, int peer, void *dst, uint64_t len) {
    struct verbs *v = verbs_of(comm);
    (void)dst; /* messages are read where they arrive */
    if (!v->pairs[peer][0].port) return check_reachable(comm, 1u << peer);
    if (v->expected[peer] - v->taken[peer] == SLOTS) return sw_fail(comm, SW_ARGUMENT, peer, 0, "too many messages expected at once");
    v->expected_len[peer][v->expected[peer]++ % SLOTS] = len;
    return SW_OK;
}

static int verbs_arrived(struct sw_comm *comm, int peer, const void **data) {
    struct verbs *v = verbs_of(comm);
    uint32_t index = v->taken[peer] + 1, slot = v->taken[peer] % SLOTS;
    uint64_t len = v->expected_len[peer][slot];
    const unsigned char *place = v->region + slot_at(comm, v, peer, slot);
    /* The header is on rail 0. It is checked before the other rails are waited for: a message of another length is
     * striped in another way, and its flags might never come. */
    if (atomic_load_explicit(&word(v, flag_at(v, peer, 0, slot))->value, memory_order_acquire) != index) {
        const struct pair *pair = &v->pairs[peer][0];
        return pair->broken ? broke(comm, peer, 0, pair->broken) : SW_AGAIN;
    }
    struct sw_header header;
    memcpy(&header, place, sizeof header);
    int status = sw_check_header(comm, peer, &header, len);
    if (status != SW_OK) return status;
    for (int r = 1; r < v->rails; r++) {
        uint64_t start, size;
        stripe(v, len, r, &start, &size);
        if (size && atomic_load_explicit(&word(v, flag_at(v, peer, r, slot))->value, memory_order_acquire) != index) return SW_AGAIN;
    }
    *data = place + sizeof header;
    return SW_OK;
}

static int verbs_release(struct sw_comm *comm, int peer) {
    struct verbs *v = verbs_of(comm);
    const struct pair *pair = &v->pairs[peer][0];
    if (pair->outstanding > DEPTH - 4) {
        int status = reap(comm);
        if (status != SW_OK) return status;
        if (pair->outstanding > DEPTH - 4) return SW_AGAIN;
    }
    int status = pair->broken ? SW_OK : write_word(comm, peer, 0, done_at(comm, v, comm->rank), v->taken[peer] + 1, NULL);
    if (status == SW_OK) v->taken[peer]++;
    return status;
}

static bool verbs_flushed(struct sw_comm *comm) {
    (void)comm;
    return true; /* send copies into a stage */
}

static int verbs_progress(struct sw_comm *comm, int peer, bool everything) {
    (void)peer;
    return everything ? reap(comm) : SW_OK;
}

static int verbs_sleep(struct sw_comm *comm, uint64_t max_ns) {
    (void)comm;
    struct timespec nap = {0, max_ns < NAP_NS ? (long)max_ns : NAP_NS};
    nanosleep(&nap, NULL); /* no interrupt tells of a write by a peer */
    return SW_OK;
}

/* What was sent last may still be on its way; a queue pair that is destroyed takes it along. */
static void drain(struct sw_comm *comm) {
    struct verbs *v = verbs_of(comm);
    uint64_t give_up_ns = sw_clock_ns() + 1000000000u;
    for (bool busy = true; busy && !comm->failed && sw_clock_ns() < give_up_ns;) {
        busy = false;
        if (reap(comm) != SW_OK) return;
        for (int p = 0; p < comm->ranks; p++)
            for (int r = 0; r < v->rails; r++) busy = busy || v->pairs[p][r].outstanding > 0;
        if (busy) verbs_sleep(comm, NAP_NS);
    }
}

static void verbs_close(struct sw_comm *comm) {
    struct verbs *v = verbs_of(comm);
    bool opened = v->port_count > 0;
    for (int p = 0; p < v->port_count; p++) opened = opened && v->ports[p].cq;
    if (opened) drain(comm);
    for (int p = 0; p < comm->ranks; p++)
        for (int r = 0; r < v->rails; r++)
            if (v->pairs[p][r].qp) v->api.destroy_qp(v->pairs[p][r].qp);
    for (int p = 0; p < v->port_count; p++) {
        const struct port *port = &v->ports[p];
        if (port->cq) v->api.destroy_cq(port->cq);
        if (port->mr) v->api.dereg_mr(port->mr);
        if (port->pd) v->api.dealloc_pd(port->pd);
        if (port->context) v->api.close_device(port->context);
    }
    if (v->api.handle) dlclose(v->api.handle);
    if (v->region) munmap(v->region, v->region_bytes);
    free(v);
}

const struct sw_transport sw_verbs_transport = {
    .send = verbs_send,
    .recv = verbs_recv,
    .arrived = verbs_arrived,
    .release = verbs_release,
    .flushed = verbs_flushed,
    .progress = verbs_progress,
    .sleep = verbs_sleep,
    .close = verbs_close,
};

#endif
