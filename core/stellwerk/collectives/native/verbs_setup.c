/* Opening the verbs transport: devices, memory, queue pairs, and joining them to those of the peers. libibverbs is loaded
 * when it is needed; without its headers the transport says that it is not there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs.h"

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

struct sw_comm *sw_open_verbs(int rank, int ranks, const struct sw_verbs_port *ports, int port_count, const uint8_t *routes, int rails,
    uint64_t slot_bytes, const char *library, char why[SW_TEXT]) {
    bool fits = rails >= 1 && rails <= SW_MAX_RAILS && port_count >= 0 && port_count <= SW_MAX_PORTS; /* none: one rank alone */
    struct sw_comm *comm = fits ? sw_comm_new(rank, ranks, &sw_verbs_transport, NULL) : NULL;
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
    /* 4.096 us * 2^14 = 67 ms per try, 6 tries: a dead peer is noticed in half a second. Some drivers (soft-RoCE) take
     * 7 tries for endless ones, as the standard does for rnr_retry only. */
    struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = pair->psn, .timeout = 14, .retry_cnt = 6, .rnr_retry = 7, .max_rd_atomic = 1};
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

#endif
