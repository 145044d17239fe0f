/* Messages by RDMA WRITE between reliable-connected queue pairs, one per peer and rail (a rail is one half of a port).
 *
 * Every rank registers one region: slots that peers write messages into, flags that say which message a slot holds,
 * counters by which peers say how many messages they are done with, and slots from which the own messages are sent.
 * A message is written with its header, then, on the same queue pair, its number is written into the flag: writes of
 * one queue pair arrive in order, so the flag cannot overtake the data. Large messages are split over the rails, with a
 * flag on each. libibverbs is loaded when it is needed; without its headers the transport says that it is not there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#if defined(__has_include)
#if __has_include(<infiniband/verbs.h>)
#define HAVE_VERBS 1
#endif
#endif

#ifndef HAVE_VERBS

struct sw_comm *sw_open_verbs(
    int rank, int ranks, const struct sw_verbs_rail *rails, int rail_count, uint64_t slot_bytes, const char *library, char why[SW_TEXT]) {
    (void)rank, (void)ranks, (void)rails, (void)rail_count, (void)slot_bytes, (void)library;
    snprintf(why, SW_TEXT, "this library was built without the headers of libibverbs");
    return NULL;
}

int sw_verbs_addresses(struct sw_comm *comm, struct sw_verbs_address *out) {
    (void)comm, (void)out;
    return SW_ARGUMENT;
}

int sw_verbs_join(struct sw_comm *comm, const struct sw_verbs_address *peers) {
    (void)comm, (void)peers;
    return SW_ARGUMENT;
}

#else

#include <infiniband/verbs.h>
#undef ibv_query_port /* macros around functions; the functions are looked up by name */
#undef ibv_reg_mr
#undef ibv_get_device_list

#define SLOTS 4 /* messages per ordered pair that may be unread */
#define STAGES 16 /* own messages that may be under way */
#define LINE 64
#define SPLIT 16384 /* smaller messages take one rail: a second flag would cost more than it brings */
#define DEPTH 128 /* work requests per queue pair */
#define NAP_NS 20000

struct library {
    void *handle;
    struct ibv_device **(*get_device_list)(int *);
    void (*free_device_list)(struct ibv_device **);
    const char *(*get_device_name)(struct ibv_device *);
    struct ibv_context *(*open_device)(struct ibv_device *);
    int (*close_device)(struct ibv_context *);
    struct ibv_pd *(*alloc_pd)(struct ibv_context *);
    int (*dealloc_pd)(struct ibv_pd *);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, int);
    int (*dereg_mr)(struct ibv_mr *);
    struct ibv_cq *(*create_cq)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int);
    int (*destroy_cq)(struct ibv_cq *);
    struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
    int (*destroy_qp)(struct ibv_qp *);
    int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);
    int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *);
    int (*query_gid)(struct ibv_context *, uint8_t, int, union ibv_gid *);
};

struct pair {
    struct ibv_qp *qp;
    uint32_t psn;
    uint32_t outstanding; /* work requests posted and not reaped */
    struct sw_verbs_address peer;
};

struct rail {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    union ibv_gid gid;
    struct ibv_port_attr port;
    uint8_t port_number, gid_index;
    struct pair pairs[SW_MAX_RANKS];
};

/* The four bytes that a peer writes; a line each, so that no two writers share one. */
struct word {
    _Alignas(LINE) _Atomic uint32_t value;
};

struct stage {
    uint32_t mask;
    uint32_t index[SW_MAX_RANKS];
};

struct verbs {
    struct library api;
    int rails;
    struct rail rail[SW_MAX_RAILS];
    unsigned char *region;
    uint64_t region_bytes, slot_bytes, stride; /* stride: header and payload of a slot */
    uint32_t posted[SW_MAX_RANKS]; /* messages sent to each peer */
    uint32_t taken[SW_MAX_RANKS]; /* messages of each peer that were released */
    uint32_t expected[SW_MAX_RANKS];
    uint64_t expected_len[SW_MAX_RANKS][SLOTS];
    uint32_t staged;
    struct stage stages[STAGES];
};

static struct verbs *verbs_of(struct sw_comm *comm) { return comm->state; }

/* ---- the region's layout; equal on all ranks, so that remote addresses can be computed --------------------------- */

static uint64_t flag_at(const struct verbs *v, int source, int rail, uint32_t slot) {
    return (((uint64_t)source * (uint64_t)v->rails + (uint64_t)rail) * SLOTS + slot) * LINE;
}

static uint64_t done_at(const struct sw_comm *comm, const struct verbs *v, int peer) {
    return ((uint64_t)comm->ranks * (uint64_t)v->rails * SLOTS + (uint64_t)peer) * LINE;
}

static uint64_t slot_at(const struct sw_comm *comm, const struct verbs *v, int source, uint32_t slot) {
    return done_at(comm, v, comm->ranks) + ((uint64_t)source * SLOTS + slot) * v->stride;
}

static uint64_t stage_at(const struct sw_comm *comm, const struct verbs *v, uint32_t stage) {
    return slot_at(comm, v, comm->ranks, 0) + (uint64_t)stage * v->stride;
}

static struct word *word(const struct verbs *v, uint64_t offset) { return (struct word *)(void *)(v->region + offset); }

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool load_library(struct library *api, const char *name, char why[SW_TEXT]) {
    api->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!api->handle) {
        snprintf(why, SW_TEXT, "libibverbs cannot be loaded: %s", dlerror());
        return false;
    }
    struct {
        const char *name;
        void *target;
    } wanted[] = {
        {"ibv_get_device_list", &api->get_device_list},
        {"ibv_free_device_list", &api->free_device_list},
        {"ibv_get_device_name", &api->get_device_name},
        {"ibv_open_device", &api->open_device},
        {"ibv_close_device", &api->close_device},
        {"ibv_alloc_pd", &api->alloc_pd},
        {"ibv_dealloc_pd", &api->dealloc_pd},
        {"ibv_reg_mr", &api->reg_mr},
        {"ibv_dereg_mr", &api->dereg_mr},
        {"ibv_create_cq", &api->create_cq},
        {"ibv_destroy_cq", &api->destroy_cq},
        {"ibv_create_qp", &api->create_qp},
        {"ibv_destroy_qp", &api->destroy_qp},
        {"ibv_modify_qp", &api->modify_qp},
        {"ibv_query_port", &api->query_port},
        {"ibv_query_gid", &api->query_gid},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(api->handle, wanted[i].name);
        if (!symbol) {
            snprintf(why, SW_TEXT, "libibverbs has no %s", wanted[i].name);
            return false;
        }
        memcpy(wanted[i].target, &symbol, sizeof symbol); /* ISO C has no cast from a data to a function pointer */
    }
    return true;
}

static struct ibv_context *open_device(const struct library *api, const char *name) {
    int count = 0;
    struct ibv_device **devices = api->get_device_list(&count);
    struct ibv_context *context = NULL;
    for (int i = 0; devices && i < count && !context; i++)
        if (strcmp(api->get_device_name(devices[i]), name) == 0) context = api->open_device(devices[i]);
    if (devices) api->free_device_list(devices);
    return context;
}

static bool refused(char why[SW_TEXT], const char *device, const char *what) {
    snprintf(why, SW_TEXT, "RDMA device %s: %s: %s", device, what, strerror(errno));
    return false;
}

static bool open_rail(struct sw_comm *comm, int index, const struct sw_verbs_rail *wanted, char why[SW_TEXT]) {
    struct verbs *v = verbs_of(comm);
    const struct library *api = &v->api;
    struct rail *rail = &v->rail[index];
    rail->port_number = wanted->port;
    rail->gid_index = wanted->gid_index;
    rail->context = open_device(api, wanted->device);
    if (!rail->context) {
        snprintf(why, SW_TEXT, "RDMA device %s not found", wanted->device);
        return false;
    }
    if (api->query_port(rail->context, rail->port_number, &rail->port)) return refused(why, wanted->device, "its port cannot be read");
    if (rail->port.state != IBV_PORT_ACTIVE) {
        snprintf(why, SW_TEXT, "RDMA device %s: port %d is not active (is the cable in?)", wanted->device, wanted->port);
        return false;
    }
    if (api->query_gid(rail->context, rail->port_number, rail->gid_index, &rail->gid)) return refused(why, wanted->device, "its GID cannot be read");
    rail->pd = api->alloc_pd(rail->context);
    if (!rail->pd) return refused(why, wanted->device, "no protection domain");
    rail->mr = api->reg_mr(rail->pd, v->region, v->region_bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!rail->mr) return refused(why, wanted->device, "memory cannot be registered (raise the limit of locked memory)");
    rail->cq = api->create_cq(rail->context, DEPTH * comm->ranks, NULL, NULL, 0);
    if (!rail->cq) return refused(why, wanted->device, "no completion queue");
    for (int peer = 0; peer < comm->ranks; peer++) {
        if (peer == comm->rank) continue;
        struct ibv_qp_init_attr attributes = {
            .send_cq = rail->cq,
            .recv_cq = rail->cq,
            .qp_type = IBV_QPT_RC,
            .cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = sizeof(uint32_t)},
        };
        struct pair *pair = &rail->pairs[peer];
        pair->qp = api->create_qp(rail->pd, &attributes);
        if (!pair->qp) return refused(why, wanted->device, "no queue pair");
        pair->psn = (uint32_t)(sw_clock_ns() ^ (uint64_t)peer * 7919) & 0xffffff;
        struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = rail->port_number, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
        if (api->modify_qp(pair->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
            return refused(why, wanted->device, "the queue pair refuses INIT");
    }
    return true;
}

static const struct sw_transport verbs_transport;

struct sw_comm *sw_open_verbs(
    int rank, int ranks, const struct sw_verbs_rail *rails, int rail_count, uint64_t slot_bytes, const char *library, char why[SW_TEXT]) {
    struct sw_comm *comm = rail_count >= 1 && rail_count <= SW_MAX_RAILS ? sw_comm_new(rank, ranks, &verbs_transport, NULL) : NULL;
    struct verbs *v = comm ? calloc(1, sizeof *v) : NULL;
    if (!v) {
        snprintf(why, SW_TEXT, "no memory, or %d rails", rail_count);
        if (comm) sw_comm_free(comm);
        return NULL;
    }
    comm->state = v;
    v->rails = rail_count;
    v->slot_bytes = slot_bytes;
    v->stride = (sizeof(struct sw_header) + slot_bytes + LINE - 1) / LINE * LINE;
    v->region_bytes = (stage_at(comm, v, STAGES) + 4095) / 4096 * 4096;
    void *region = mmap(NULL, v->region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    v->region = region == MAP_FAILED ? NULL : region;
    bool good = v->region != NULL;
    if (!good) snprintf(why, SW_TEXT, "no memory for %llu bytes", (unsigned long long)v->region_bytes);
    good = good && load_library(&v->api, library, why);
    for (int i = 0; good && i < rail_count; i++) good = open_rail(comm, i, &rails[i], why);
    if (good) return comm;
    sw_close(comm);
    return NULL;
}

int sw_verbs_addresses(struct sw_comm *comm, struct sw_verbs_address *out) {
    struct verbs *v = verbs_of(comm);
    for (int peer = 0; peer < comm->ranks; peer++)
        for (int r = 0; r < v->rails; r++) {
            const struct rail *rail = &v->rail[r];
            const struct pair *pair = &rail->pairs[peer];
            struct sw_verbs_address *address = &out[peer * v->rails + r];
            memset(address, 0, sizeof *address);
            if (peer == comm->rank) continue;
            memcpy(address->gid, &rail->gid, sizeof address->gid);
            address->base = (uint64_t)(uintptr_t)v->region;
            address->key = rail->mr->rkey;
            address->qpn = pair->qp->qp_num;
            address->psn = pair->psn;
            address->mtu = rail->port.active_mtu;
            address->lid = rail->port.lid;
        }
    return SW_OK;
}

static int join_pair(struct sw_comm *comm, int peer, int r, const struct sw_verbs_address *address) {
    struct verbs *v = verbs_of(comm);
    struct rail *rail = &v->rail[r];
    struct pair *pair = &rail->pairs[peer];
    pair->peer = *address;
    struct ibv_qp_attr ready = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = address->mtu < (uint32_t)rail->port.active_mtu ? (enum ibv_mtu)address->mtu : rail->port.active_mtu,
        .dest_qp_num = address->qpn,
        .rq_psn = address->psn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, /* 0 would mean 655 ms */
        .ah_attr = {.is_global = 1, .dlid = address->lid, .port_num = rail->port_number},
    };
    ready.ah_attr.grh.sgid_index = rail->gid_index;
    ready.ah_attr.grh.hop_limit = 64;
    memcpy(&ready.ah_attr.grh.dgid, address->gid, sizeof address->gid);
    int error = v->api.modify_qp(pair->qp, &ready,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    if (error) return sw_fail(comm, SW_IO, peer, error, "rail %d cannot reach rank %d (wrong cable, subnet or GID?): %s", r, peer, strerror(error));
    /* 4.096 us * 2^14 = 67 ms per try, 7 tries: a dead peer is noticed in half a second */
    struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = pair->psn, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    error = v->api.modify_qp(pair->qp, &send,
        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    if (error) return sw_fail(comm, SW_IO, peer, error, "rail %d to rank %d refuses RTS: %s", r, peer, strerror(error));
    return SW_OK;
}

/* `peers[p * rails + r]` is what rank p said about its queue pair for this rank on rail r. */
int sw_verbs_join(struct sw_comm *comm, const struct sw_verbs_address *peers) {
    for (int peer = 0; peer < comm->ranks; peer++)
        for (int r = 0; peer != comm->rank && r < verbs_of(comm)->rails; r++) {
            int status = join_pair(comm, peer, r, &peers[peer * verbs_of(comm)->rails + r]);
            if (status != SW_OK) return status;
        }
    return SW_OK;
}

/* ---- work requests ----------------------------------------------------------------------------------------------- */

/* A completion says whose it is and how many requests it stands for: only the last of a chain is signalled. */
static uint64_t tag(int peer, int rail, uint32_t requests) { return (uint64_t)peer | (uint64_t)rail << 8 | (uint64_t)requests << 16; }

static int reap(struct sw_comm *comm) {
    struct verbs *v = verbs_of(comm);
    for (int r = 0; r < v->rails; r++) {
        struct ibv_wc done[16];
        int count;
        while ((count = v->rail[r].context->ops.poll_cq(v->rail[r].cq, 16, done)) > 0)
            for (int i = 0; i < count; i++) {
                int peer = (int)(done[i].wr_id & 0xff), rail = (int)(done[i].wr_id >> 8 & 0xff);
                if (done[i].status != IBV_WC_SUCCESS)
                    return sw_fail(comm, SW_CLOSED, peer, 0, "its queue pair on rail %d broke (completion status %d)", rail, done[i].status);
                v->rail[rail].pairs[peer].outstanding -= (uint32_t)(done[i].wr_id >> 16);
            }
        if (count < 0) return sw_fail(comm, SW_IO, -1, errno, "the completion queue of rail %d cannot be read", r);
    }
    return SW_OK;
}

static int post(struct sw_comm *comm, int peer, int r, struct ibv_send_wr *first, uint32_t requests) {
    struct pair *pair = &verbs_of(comm)->rail[r].pairs[peer];
    struct ibv_send_wr *bad = NULL;
    int error = pair->qp->context->ops.post_send(pair->qp, first, &bad);
    if (error) return sw_fail(comm, SW_CLOSED, peer, error, "its queue pair on rail %d takes nothing: %s", r, strerror(error));
    pair->outstanding += requests;
    return SW_OK;
}

/* Write four bytes into a word of the peer's region, behind `data` if there is some. */
static int write_word(struct sw_comm *comm, int peer, int r, uint64_t offset, uint32_t value, struct ibv_send_wr *data) {
    struct pair *pair = &verbs_of(comm)->rail[r].pairs[peer];
    struct ibv_sge bytes = {.addr = (uint64_t)(uintptr_t)&value, .length = sizeof value}; /* inline: read before post returns */
    struct ibv_send_wr flag = {
        .wr_id = tag(peer, r, data ? 2 : 1),
        .sg_list = &bytes,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = pair->peer.base + offset, .rkey = pair->peer.key},
    };
    if (data) data->next = &flag;
    return post(comm, peer, r, data ? data : &flag, data ? 2 : 1);
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
        struct rail *rail = &v->rail[r];
        struct pair *pair = &rail->pairs[peer];
        struct ibv_sge bytes = {
            .addr = (uint64_t)(uintptr_t)(v->region + stage_at(comm, v, stage) + start), .length = (uint32_t)size, .lkey = rail->mr->lkey};
        struct ibv_send_wr data = {
            .wr_id = tag(peer, r, 0),
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
    for (uint32_t rest = stage->mask; rest; rest &= rest - 1)
        if (!is_read(comm, __builtin_ctz(rest), stage->index[__builtin_ctz(rest)])) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        if (v->posted[peer] >= SLOTS && !is_read(comm, peer, v->posted[peer] - SLOTS + 1)) return false;
        for (int r = 0; r < v->rails; r++)
            if (v->rail[r].pairs[peer].outstanding > DEPTH - 4) return false;
    }
    return true;
}

static int verbs_send(struct sw_comm *comm, uint32_t mask, const void *src, uint64_t len) {
    struct verbs *v = verbs_of(comm);
    if (len > v->slot_bytes) return sw_fail(comm, SW_ARGUMENT, -1, 0, "a message of %llu bytes exceeds a slot", (unsigned long long)len);
    uint32_t stage = v->staged % STAGES;
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
    if (atomic_load_explicit(&word(v, flag_at(v, peer, 0, slot))->value, memory_order_acquire) != index) return SW_AGAIN;
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
    if (v->rail[0].pairs[peer].outstanding > DEPTH - 4) {
        int status = reap(comm);
        if (status != SW_OK) return status;
        if (v->rail[0].pairs[peer].outstanding > DEPTH - 4) return SW_AGAIN;
    }
    int status = write_word(comm, peer, 0, done_at(comm, v, comm->rank), v->taken[peer] + 1, NULL);
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
        for (int r = 0; r < v->rails; r++)
            for (int p = 0; p < comm->ranks; p++) busy = busy || v->rail[r].pairs[p].outstanding > 0;
        if (busy) verbs_sleep(comm, NAP_NS);
    }
}

static void verbs_close(struct sw_comm *comm) {
    struct verbs *v = verbs_of(comm);
    if (v->rails && v->rail[v->rails - 1].cq) drain(comm);
    for (int r = 0; r < v->rails; r++) {
        struct rail *rail = &v->rail[r];
        for (int p = 0; p < comm->ranks; p++)
            if (rail->pairs[p].qp) v->api.destroy_qp(rail->pairs[p].qp);
        if (rail->cq) v->api.destroy_cq(rail->cq);
        if (rail->mr) v->api.dereg_mr(rail->mr);
        if (rail->pd) v->api.dealloc_pd(rail->pd);
        if (rail->context) v->api.close_device(rail->context);
    }
    if (v->api.handle) dlclose(v->api.handle);
    if (v->region) munmap(v->region, v->region_bytes);
    free(v);
}

static const struct sw_transport verbs_transport = {
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
