#define _GNU_SOURCE
#include "fake_verbs.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_get_device_list

#define QPS_MAX 512
#define REQUESTS_MAX 256
#define MRS_MAX 64
#define DONE_MAX 4096

struct request {
    struct ibv_send_wr wr;
    unsigned char *bytes;
    uint32_t length;
    uint32_t inline_value;
};

struct fake_cq {
    struct ibv_cq cq;
    struct ibv_wc done[DONE_MAX];
    unsigned first, last;
};

struct fake_qp {
    struct ibv_qp qp;
    struct request requests[REQUESTS_MAX];
    unsigned first, last;
    uint32_t peer;
    int device;
    bool used, ready, broken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_device devices[2] = {{.name = "fake0"}, {.name = "fake1"}};
static struct fake_qp *qps[QPS_MAX];
static struct ibv_mr *mrs[MRS_MAX];
static unsigned open_objects, writes[2], posts, delivered, after;
static uint64_t chance;
static enum fake_fault fault;

static unsigned dice(unsigned sides) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % sides;
}

void fake_reset(enum fake_fault wanted, unsigned when, unsigned seed) {
    pthread_mutex_lock(&lock);
    CHECK(open_objects == 0);
    memset(qps, 0, sizeof qps);
    memset(writes, 0, sizeof writes);
    fault = wanted, after = when, chance = seed * 2654435761u + 1, posts = delivered = 0;
    pthread_mutex_unlock(&lock);
}

unsigned fake_open_objects(void) { return open_objects; }
unsigned fake_writes_on(int device) { return writes[device]; }

static void complete(struct fake_qp *qp, const struct request *request, enum ibv_wc_status status) {
    if (status == IBV_WC_SUCCESS && !(request->wr.send_flags & IBV_SEND_SIGNALED)) return;
    struct fake_cq *cq = (struct fake_cq *)(void *)qp->qp.send_cq;
    CHECK(cq->last - cq->first < DONE_MAX);
    cq->done[cq->last++ % DONE_MAX] = (struct ibv_wc){.wr_id = request->wr.wr_id, .status = status, .qp_num = qp->qp.qp_num};
}

static void deliver(struct fake_qp *qp) {
    struct request *request = &qp->requests[qp->first++ % REQUESTS_MAX];
    if (fault == FAKE_BROKEN_QP && ++delivered == after) qp->broken = true;
    if (qp->broken || qp->peer >= QPS_MAX || !qps[qp->peer]) {
        complete(qp, request, qp->broken ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR);
        return;
    }
    struct ibv_mr *mr = request->wr.wr.rdma.rkey < MRS_MAX ? mrs[request->wr.wr.rdma.rkey] : NULL;
    uint64_t to = request->wr.wr.rdma.remote_addr;
    CHECK(mr && to >= (uint64_t)(uintptr_t)mr->addr && to + request->length <= (uint64_t)(uintptr_t)mr->addr + mr->length);
    if (request->wr.send_flags & IBV_SEND_INLINE)
        __atomic_store_n((uint32_t *)(uintptr_t)to, request->inline_value, __ATOMIC_RELEASE);
    else
        memcpy((void *)(uintptr_t)to, request->bytes, request->length);
    writes[qp->device]++;
    complete(qp, request, IBV_WC_SUCCESS);
}

/* Some queue pairs, picked at random, deliver some of what they have. */
static void move_the_wire(void) {
    for (unsigned i = 0, start = dice(QPS_MAX); i < QPS_MAX; i++) {
        struct fake_qp *qp = qps[(start + i) % QPS_MAX];
        if (!qp || !qp->used || dice(3) == 0) continue;
        for (unsigned n = dice(5); n > 0 && qp->first != qp->last; n--) deliver(qp);
    }
}

static int poll_cq(struct ibv_cq *plain, int entries, struct ibv_wc *out) {
    struct fake_cq *cq = (struct fake_cq *)(void *)plain;
    int count = 0;
    pthread_mutex_lock(&lock);
    move_the_wire();
    while (count < entries && cq->first != cq->last) out[count++] = cq->done[cq->first++ % DONE_MAX];
    pthread_mutex_unlock(&lock);
    return count;
}

static int post_send(struct ibv_qp *plain, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
    struct fake_qp *qp = (struct fake_qp *)(void *)plain;
    int error = 0;
    pthread_mutex_lock(&lock);
    CHECK(qp->used && qp->ready);
    if (fault == FAKE_FULL_QUEUE && ++posts == after) error = ENOMEM, *bad = wr;
    for (; !error && wr; wr = wr->next) {
        CHECK(qp->last - qp->first < REQUESTS_MAX && wr->num_sge == 1 && wr->opcode == IBV_WR_RDMA_WRITE);
        struct request *request = &qp->requests[qp->last++ % REQUESTS_MAX];
        *request = (struct request){.wr = *wr, .bytes = (unsigned char *)(uintptr_t)wr->sg_list->addr, .length = wr->sg_list->length};
        if (wr->send_flags & IBV_SEND_INLINE) {
            CHECK(request->length == sizeof request->inline_value);
            memcpy(&request->inline_value, request->bytes, sizeof request->inline_value);
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static void *counted(void *object) {
    CHECK(object);
    __atomic_add_fetch(&open_objects, 1, __ATOMIC_SEQ_CST);
    return object;
}

static int given_back(void *object) {
    free(object);
    __atomic_sub_fetch(&open_objects, 1, __ATOMIC_SEQ_CST);
    return 0;
}

struct ibv_device **ibv_get_device_list(int *count) {
    static struct ibv_device *list[] = {&devices[0], &devices[1], NULL};
    *count = fault == FAKE_NO_DEVICE ? 0 : 2;
    return list;
}

void ibv_free_device_list(struct ibv_device **list) { (void)list; }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }

struct ibv_context *ibv_open_device(struct ibv_device *device) {
    struct ibv_context *context = counted(calloc(1, sizeof *context));
    context->device = device;
    context->ops.poll_cq = poll_cq;
    context->ops.post_send = post_send;
    return context;
}

int ibv_close_device(struct ibv_context *context) { return given_back(context); }

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    struct ibv_pd *pd = counted(calloc(1, sizeof *pd));
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) { return given_back(pd); }

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
    CHECK(access == (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    if (fault == FAKE_NO_MEMORY_REGISTRATION) {
        errno = ENOMEM;
        return NULL;
    }
    struct ibv_mr *mr = counted(calloc(1, sizeof *mr));
    *mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length};
    pthread_mutex_lock(&lock);
    while (mr->rkey < MRS_MAX && mrs[mr->rkey]) mr->rkey++;
    CHECK(mr->rkey < MRS_MAX);
    mr->lkey = mr->rkey;
    mrs[mr->rkey] = mr;
    pthread_mutex_unlock(&lock);
    return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr) {
    pthread_mutex_lock(&lock);
    mrs[mr->rkey] = NULL;
    pthread_mutex_unlock(&lock);
    return given_back(mr);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *mine, struct ibv_comp_channel *channel, int vector) {
    (void)entries, (void)mine, (void)channel, (void)vector;
    struct fake_cq *cq = counted(calloc(1, sizeof *cq));
    cq->cq.context = context;
    return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) { return given_back(cq); }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
    CHECK(attributes->qp_type == IBV_QPT_RC && attributes->cap.max_inline_data >= 4);
    struct fake_qp *qp = counted(calloc(1, sizeof *qp));
    qp->qp.context = pd->context;
    qp->qp.send_cq = attributes->send_cq;
    qp->device = pd->context->device == &devices[1];
    pthread_mutex_lock(&lock);
    uint32_t number = 1;
    while (number < QPS_MAX && qps[number]) number++;
    CHECK(number < QPS_MAX);
    qp->qp.qp_num = number;
    qp->used = true;
    qps[number] = qp;
    pthread_mutex_unlock(&lock);
    return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
    pthread_mutex_lock(&lock);
    qps[qp->qp_num] = NULL;
    pthread_mutex_unlock(&lock);
    return given_back(qp);
}

int ibv_modify_qp(struct ibv_qp *plain, struct ibv_qp_attr *attributes, int mask) {
    struct fake_qp *qp = (struct fake_qp *)(void *)plain;
    CHECK(mask & IBV_QP_STATE);
    if (attributes->qp_state == IBV_QPS_RTR) {
        CHECK(attributes->min_rnr_timer != 0 && attributes->ah_attr.is_global);
        if (fault == FAKE_UNREACHABLE) return ETIMEDOUT;
        pthread_mutex_lock(&lock);
        qp->peer = attributes->dest_qp_num;
        pthread_mutex_unlock(&lock);
    }
    if (attributes->qp_state == IBV_QPS_RTS) {
        CHECK(attributes->retry_cnt != 7); /* would be for ever with soft-RoCE */
        qp->ready = true;
    }
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *out) {
    (void)context, (void)number;
    struct ibv_port_attr attributes = {.state = fault == FAKE_PORT_DOWN ? IBV_PORT_DOWN : IBV_PORT_ACTIVE, .active_mtu = IBV_MTU_4096};
    memcpy(out, &attributes, sizeof attributes);
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status) { return status == IBV_WC_RETRY_EXC_ERR ? "no answer" : "an error"; }

int ibv_query_gid(struct ibv_context *context, uint8_t number, int index, union ibv_gid *gid) {
    (void)context, (void)number;
    memset(gid, index, sizeof *gid);
    return 0;
}
