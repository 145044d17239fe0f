/* Messages by RDMA WRITE between reliable-connected queue pairs, one per peer and rail (a rail is one half of a port).
 * Each pair has a port of its own: on a switch all peers are behind the same one, on a ring each neighbour behind another.
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

struct sw_comm *sw_open_verbs(int rank, int ranks, const struct sw_verbs_port *ports, int port_count, const uint8_t *routes, int rails,
    uint64_t slot_bytes, const char *library, char why[SW_TEXT]) {
    (void)rank, (void)ranks, (void)ports, (void)port_count, (void)routes, (void)rails, (void)slot_bytes, (void)library;
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
#define SPARE 8
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
    const char *(*wc_status_str)(enum ibv_wc_status);
};

struct port {
    char device[64];
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    union ibv_gid gid;
    struct ibv_port_attr attributes;
    uint8_t number, gid_index;
};

struct pair {
    struct port *port; /* NULL: this peer is not reached */
    struct ibv_qp *qp;
    uint32_t psn;
    uint32_t outstanding; /* work requests posted and not reaped */
    enum ibv_wc_status broken; /* a counter could not be written: nothing comes from this peer any more */
    struct sw_verbs_address peer;
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
    int rails, port_count;
    struct port ports[SW_MAX_PORTS];
    struct pair pairs[SW_MAX_RANKS][SW_MAX_RAILS];
    unsigned char *region;
    uint64_t region_bytes, slot_bytes, stride; /* stride: header and payload of a slot */
    uint32_t posted[SW_MAX_RANKS]; /* messages sent to each peer */
    uint32_t taken[SW_MAX_RANKS]; /* messages of each peer that were released */
    uint32_t expected[SW_MAX_RANKS];
    uint64_t expected_len[SW_MAX_RANKS][SLOTS];
    uint32_t staged;
    uint32_t stage_count; /* own messages that may be under way: to every peer another one, and some to spare */
    struct stage stages[SW_MAX_RANKS + SPARE];
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
        {"ibv_wc_status_str", &api->wc_status_str},
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

static bool open_port(struct sw_comm *comm, struct port *port, const struct sw_verbs_port *wanted, char why[SW_TEXT]) {
    struct verbs *v = verbs_of(comm);
    const struct library *api = &v->api;
    const char *device = port->device;
    snprintf(port->device, sizeof port->device, "%s", wanted->device);
    port->number = wanted->number;
    port->gid_index = wanted->gid_index;
    port->context = open_device(api, device);
    if (!port->context) {
        snprintf(why, SW_TEXT, "RDMA device %s not found", device);
        return false;
    }
    if (api->query_port(port->context, port->number, &port->attributes)) return refused(why, device, "its port cannot be read");
    if (port->attributes.state != IBV_PORT_ACTIVE) {
        snprintf(why, SW_TEXT, "RDMA device %s: port %d is not active (is the cable in?)", device, port->number);
        return false;
    }
    if (api->query_gid(port->context, port->number, port->gid_index, &port->gid)) return refused(why, device, "its GID cannot be read");
    port->pd = api->alloc_pd(port->context);
    if (!port->pd) return refused(why, device, "no protection domain");
    port->mr = api->reg_mr(port->pd, v->region, v->region_bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!port->mr) return refused(why, device, "memory cannot be registered (raise the limit of locked memory)");
    port->cq = api->create_cq(port->context, DEPTH * comm->ranks, NULL, NULL, 0);
    if (!port->cq) return refused(why, device, "no completion queue");
    return true;
}

static bool open_pair(struct sw_comm *comm, struct pair *pair, struct port *port, int peer, char why[SW_TEXT]) {
    const struct library *api = &verbs_of(comm)->api;
    struct ibv_qp_init_attr attributes = {
        .send_cq = port->cq,
        .recv_cq = port->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = sizeof(uint32_t)},
    };
    pair->port = port;
    pair->qp = api->create_qp(port->pd, &attributes);
    if (!pair->qp) return refused(why, port->device, "no queue pair");
    pair->psn = (uint32_t)(sw_clock_ns() ^ (uint64_t)peer * 7919) & 0xffffff;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = port->number, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    if (api->modify_qp(pair->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        return refused(why, port->device, "the queue pair refuses INIT");
    return true;
}

static bool open_pairs(struct sw_comm *comm, const uint8_t *routes, char why[SW_TEXT]) {
    struct verbs *v = verbs_of(comm);
    for (int peer = 0; peer < comm->ranks; peer++)
        for (int r = 0; r < v->rails; r++) {
            uint8_t way = routes[peer * v->rails + r];
            if (peer == comm->rank || way == SW_NO_PORT) continue;
            if (way >= v->port_count) {
                snprintf(why, SW_TEXT, "rank %d is behind port %d of %d", peer, way, v->port_count);
                return false;
            }
            if (!open_pair(comm, &v->pairs[peer][r], &v->ports[way], peer, why)) return false;
        }
    return true;
}

static const struct sw_transport verbs_transport;

struct sw_comm *sw_open_verbs(int rank, int ranks, const struct sw_verbs_port *ports, int port_count, const uint8_t *routes, int rails,
    uint64_t slot_bytes, const char *library, char why[SW_TEXT]) {
    bool fits = rails >= 1 && rails <= SW_MAX_RAILS && port_count >= 1 && port_count <= SW_MAX_PORTS;
    struct sw_comm *comm = fits ? sw_comm_new(rank, ranks, &verbs_transport, NULL) : NULL;
    struct verbs *v = comm ? calloc(1, sizeof *v) : NULL;
    if (!v) {
        snprintf(why, SW_TEXT, "no memory, or %d rails over %d ports", rails, port_count);
        if (comm) sw_comm_free(comm);
        return NULL;
    }
    comm->state = v;
    v->rails = rails;
    v->slot_bytes = slot_bytes;
    v->stage_count = (uint32_t)ranks + SPARE;
    v->stride = (sizeof(struct sw_header) + slot_bytes + LINE - 1) / LINE * LINE;
    v->region_bytes = (stage_at(comm, v, v->stage_count) + 4095) / 4096 * 4096;
    void *region = mmap(NULL, v->region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    v->region = region == MAP_FAILED ? NULL : region;
    bool good = v->region != NULL;
    if (!good) snprintf(why, SW_TEXT, "no memory for %llu bytes", (unsigned long long)v->region_bytes);
    good = good && load_library(&v->api, library, why);
    while (good && v->port_count < port_count) {
        int next = v->port_count++; /* counted before it is open: what was opened of it must be closed */
        good = open_port(comm, &v->ports[next], &ports[next], why);
    }
    good = good && open_pairs(comm, routes, why);
    if (good) return comm;
    sw_close(comm);
    return NULL;
}

int sw_verbs_addresses(struct sw_comm *comm, struct sw_verbs_address *out) {
    struct verbs *v = verbs_of(comm);
    memset(out, 0, sizeof *out * (size_t)comm->ranks * (size_t)v->rails);
    for (int peer = 0; peer < comm->ranks; peer++)
        for (int r = 0; r < v->rails; r++) {
            const struct pair *pair = &v->pairs[peer][r];
            const struct port *port = pair->port;
            if (!port) continue;
            struct sw_verbs_address *address = &out[peer * v->rails + r];
            memcpy(address->gid, &port->gid, sizeof address->gid);
            address->base = (uint64_t)(uintptr_t)v->region;
            address->key = port->mr->rkey;
            address->qpn = pair->qp->qp_num;
            address->psn = pair->psn;
            address->mtu = (uint32_t)port->attributes.active_mtu;
            address->lid = port->attributes.lid;
        }
    return SW_OK;
}

/* From INIT over RTR to RTS, with the smaller of the two MTUs. */
static int join_pair(struct sw_comm *comm, int peer, int r, const struct sw_verbs_address *address) {
    struct verbs *v = verbs_of(comm);
    struct pair *pair = &v->pairs[peer][r];
    const struct port *port = pair->port;
    if (!port) return SW_OK;
    if (!address->base) return sw_fail(comm, SW_IO, peer, 0, "rank %d does not take rank %d for a neighbour", peer, comm->rank);
    pair->peer = *address;
    enum ibv_mtu mtu = port->attributes.active_mtu;
    struct ibv_qp_attr ready = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = address->mtu < (uint32_t)mtu ? (enum ibv_mtu)address->mtu : mtu,
        .dest_qp_num = address->qpn,
        .rq_psn = address->psn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, /* 0 would mean 655 ms */
        .ah_attr = {.is_global = 1, .dlid = address->lid, .port_num = port->number},
    };
    ready.ah_attr.grh.sgid_index = port->gid_index;
    ready.ah_attr.grh.hop_limit = 64;
    memcpy(&ready.ah_attr.grh.dgid, address->gid, sizeof address->gid);
    int error = v->api.modify_qp(pair->qp, &ready,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    if (error)
        return sw_fail(comm, SW_IO, peer, error, "rank %d cannot be reached over rail %d (%s): wrong cable, subnet or GID? %s", peer, r,
            port->device, strerror(error));
    /* 4.096 us * 2^14 = 67 ms per try, 7 tries: a dead peer is noticed in half a second */
    struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = pair->psn, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    error = v->api.modify_qp(pair->qp, &send,
        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    if (error) return sw_fail(comm, SW_IO, peer, error, "rail %d (%s) to rank %d refuses RTS: %s", r, port->device, peer, strerror(error));
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
#define MESSAGE 2 /* data and flag */
#define COUNTER 1

static uint64_t tag(int peer, int rail, uint32_t requests) { return (uint64_t)peer | (uint64_t)rail << 8 | (uint64_t)requests << 16; }

static int broke(struct sw_comm *comm, int peer, int r, enum ibv_wc_status status) {
    const struct verbs *v = verbs_of(comm);
    return sw_fail(comm, SW_CLOSED, peer, 0, "its queue pair on rail %d (%s) broke: %s", r, v->pairs[peer][r].port->device,
        v->api.wc_status_str(status));
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
        return sw_fail(comm, SW_CLOSED, peer, error, "its queue pair on rail %d (%s) takes nothing: %s", r, pair->port->device, strerror(error));
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
