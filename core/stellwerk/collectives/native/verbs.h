/* The state of the verbs transport, shared by its two files. */
#ifndef STELLWERK_VERBS_H
#define STELLWERK_VERBS_H

#include "internal.h"

#if defined(__has_include)
#if __has_include(<infiniband/verbs.h>)
#define HAVE_VERBS 1
#endif
#endif

#ifdef HAVE_VERBS
#include <infiniband/verbs.h>
#undef ibv_query_port /* macros around functions; the functions are looked up by name */
#undef ibv_reg_mr
#undef ibv_get_device_list

#define SLOTS 4 /* messages per ordered pair that may be unread */
#define SPARE 8
#define LINE 64
#define DEPTH 128 /* work requests per queue pair */

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

extern const struct sw_transport sw_verbs_transport;

static inline struct verbs *verbs_of(struct sw_comm *comm) { return comm->state; }

/* ---- the region's layout; equal on all ranks, so that remote addresses can be computed --------------------------- */

static inline uint64_t flag_at(const struct verbs *v, int source, int rail, uint32_t slot) {
    return (((uint64_t)source * (uint64_t)v->rails + (uint64_t)rail) * SLOTS + slot) * LINE;
}

static inline uint64_t done_at(const struct sw_comm *comm, const struct verbs *v, int peer) {
    return ((uint64_t)comm->ranks * (uint64_t)v->rails * SLOTS + (uint64_t)peer) * LINE;
}

static inline uint64_t slot_at(const struct sw_comm *comm, const struct verbs *v, int source, uint32_t slot) {
    return done_at(comm, v, comm->ranks) + ((uint64_t)source * SLOTS + slot) * v->stride;
}

static inline uint64_t stage_at(const struct sw_comm *comm, const struct verbs *v, uint32_t stage) {
    return slot_at(comm, v, comm->ranks, 0) + (uint64_t)stage * v->stride;
}

static inline struct word *word(const struct verbs *v, uint64_t offset) { return (struct word *)(void *)(v->region + offset); }
#endif
#endif
