/* Messages over stream sockets. The sockets come connected and authenticated from Python; each direction of each
 * pair is a queue of messages, sent and received without ever blocking on one peer. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "internal.h"

#define QUEUE 64 /* messages per direction and pair that may be outstanding; schedules stay far below */

struct outgoing {
    struct sw_header header;
    const unsigned char *data;
    uint64_t len;
    uint64_t sent; /* header included */
};

struct incoming {
    unsigned char *data;
    uint64_t len;
    uint64_t ready_ns; /* emulated link: not to be seen before */
};

struct connection {
    int fd;
    uint32_t expected, complete, taken; /* counters into `in`: posted by recv, filled, handed out and released */
    uint32_t queued, gone; /* counters into `out` */
    uint64_t have; /* bytes of the message that is arriving, header included */
    struct sw_header header; /* of that message */
    struct incoming in[QUEUE];
    struct outgoing out[QUEUE];
};

struct tcp {
    uint32_t unsent; /* messages in all `out` queues */
    struct connection connections[];
};

static struct tcp *tcp_of(struct sw_comm *comm) { return comm->state; }

static int lost(struct sw_comm *comm, int peer, int error) {
    if (error == 0) return sw_fail(comm, SW_CLOSED, peer, 0, "closed its connection");
    if (error == ECONNRESET || error == EPIPE || error == ETIMEDOUT || error == ENOTCONN)
        return sw_fail(comm, SW_CLOSED, peer, error, "connection lost: %s", strerror(error));
    return sw_fail(comm, SW_IO, peer, error, "socket error: %s", strerror(error));
}

static int push(struct sw_comm *comm, int peer) {
    struct tcp *tcp = tcp_of(comm);
    struct connection *c = &tcp->connections[peer];
    while (c->gone != c->queued) {
        struct outgoing *m = &c->out[c->gone % QUEUE];
        uint64_t of_header = m->sent < sizeof m->header ? m->sent : sizeof m->header;
        uint64_t of_data = m->sent - of_header;
        struct iovec parts[2] = {
            {(unsigned char *)&m->header + of_header, sizeof m->header - of_header},
            {(void *)(uintptr_t)(m->data + of_data), m->len - of_data},
        };
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = m->len - of_data ? 2 : 1};
        ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK ? SW_OK : lost(comm, peer, errno);
        }
        m->sent += (uint64_t)n;
        if (m->sent < sizeof m->header + m->len) continue;
        c->gone++;
        tcp->unsent--;
    }
    return SW_OK;
}

static int pull(struct sw_comm *comm, int peer) {
    struct connection *c = &tcp_of(comm)->connections[peer];
    while (c->complete != c->expected) {
        struct incoming *m = &c->in[c->complete % QUEUE];
        uint64_t of_header = c->have < sizeof c->header ? c->have : sizeof c->header;
        uint64_t of_data = c->have - of_header;
        struct iovec parts[2] = {
            {(unsigned char *)&c->header + of_header, sizeof c->header - of_header},
            {m->data + of_data, m->len - of_data},
        };
        int first = of_header == sizeof c->header; /* an empty first part would be one system call's worth of confusion */
        int count = (first ? 0 : 1) + (m->len - of_data ? 1 : 0);
        ssize_t n = readv(c->fd, parts + first, count);
        if (n <= 0) {
            if (n < 0 && errno == EINTR) continue;
            if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return SW_OK;
            return lost(comm, peer, n < 0 ? errno : 0);
        }
        bool had_header = c->have >= sizeof c->header;
        c->have += (uint64_t)n;
        if (!had_header && c->have >= sizeof c->header) {
            int status = sw_check_header(comm, peer, &c->header, m->len);
            if (status != SW_OK) return status;
        }
        if (c->have < sizeof c->header + m->len) continue;
        m->ready_ns = sw_link_ready_ns(comm, &c->header);
        c->have = 0;
        c->complete++;
    }
    return SW_OK;
}

static int tcp_send(struct sw_comm *comm, uint32_t mask, const void *src, uint64_t len) {
    struct tcp *tcp = tcp_of(comm);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const struct connection *c = &tcp->connections[__builtin_ctz(rest)];
        if (c->queued - c->gone == QUEUE) return SW_AGAIN;
    }
    /* Begin with the next rank, not with rank 0: otherwise all ranks load the same receiver first. */
    for (int i = 1; i < comm->ranks; i++) {
        int peer = (comm->rank + i) % comm->ranks;
        if (!(mask >> peer & 1u)) continue;
        struct connection *c = &tcp->connections[peer];
        c->out[c->queued++ % QUEUE] = (struct outgoing){sw_make_header(comm, len), src, len, 0};
        tcp->unsent++;
        int status = push(comm, peer);
        if (status < 0) return status;
    }
    return SW_OK;
}

static int tcp_recv(struct sw_comm *comm, int peer, void *dst, uint64_t len) {
    struct connection *c = &tcp_of(comm)->connections[peer];
    if (c->expected - c->taken == QUEUE) return sw_fail(comm, SW_ARGUMENT, peer, 0, "too many messages expected at once");
    c->in[c->expected++ % QUEUE] = (struct incoming){dst, len, 0};
    return SW_OK;
}

static int tcp_arrived(struct sw_comm *comm, int peer, const void **data) {
    struct connection *c = &tcp_of(comm)->connections[peer];
    if (c->complete == c->taken) {
        int status = pull(comm, peer);
        if (status < 0) return status;
        if (c->complete == c->taken) return SW_AGAIN;
    }
    const struct incoming *m = &c->in[c->taken % QUEUE];
    if (m->ready_ns && sw_clock_ns() < m->ready_ns) return SW_AGAIN;
    *data = m->data;
    return SW_OK;
}

static int tcp_release(struct sw_comm *comm, int peer) {
    tcp_of(comm)->connections[peer].taken++;
    return SW_OK;
}

static bool tcp_flushed(struct sw_comm *comm) { return tcp_of(comm)->unsent == 0; }

static int tcp_progress(struct sw_comm *comm, int peer, bool everything) {
    struct tcp *tcp = tcp_of(comm);
    for (int p = 0; p < comm->ranks; p++) {
        struct connection *c = &tcp->connections[p];
        if (c->gone != c->queued) {
            int status = push(comm, p);
            if (status < 0) return status;
        }
        /* The awaited peer is read by the step that waits for it. */
        if (everything && p != peer && c->complete != c->expected) {
            int status = pull(comm, p);
            if (status < 0) return status;
        }
    }
    return SW_OK;
}

static int tcp_sleep(struct sw_comm *comm, uint64_t max_ns) {
    struct tcp *tcp = tcp_of(comm);
    struct pollfd polls[SW_MAX_RANKS];
    nfds_t count = 0;
    int awaited = atomic_load_explicit(&comm->waiting_on, memory_order_relaxed);
    if (awaited >= 0) {
        const struct connection *c = &tcp->connections[awaited];
        uint64_t ready_ns = c->complete != c->taken ? c->in[c->taken % QUEUE].ready_ns : 0;
        if (ready_ns && !sw_until_ready(ready_ns, &max_ns)) return SW_OK;
    }
    for (int p = 0; p < comm->ranks; p++) {
        const struct connection *c = &tcp->connections[p];
        short events = (short)((c->complete != c->expected ? POLLIN : 0) | (c->gone != c->queued ? POLLOUT : 0));
        if (events) polls[count++] = (struct pollfd){c->fd, events, 0};
    }
    struct timespec t = {(time_t)(max_ns / 1000000000u), (long)(max_ns % 1000000000u)};
    if (ppoll(polls, count, &t, NULL) < 0 && errno != EINTR) return sw_fail(comm, SW_IO, -1, errno, "poll: %s", strerror(errno));
    return SW_OK;
}

static void tcp_close(struct sw_comm *comm) { free(comm->state); } /* the sockets belong to Python */

static const struct sw_transport tcp_transport = {
    .send = tcp_send,
    .recv = tcp_recv,
    .arrived = tcp_arrived,
    .release = tcp_release,
    .flushed = tcp_flushed,
    .progress = tcp_progress,
    .sleep = tcp_sleep,
    .close = tcp_close,
};

struct sw_comm *sw_open_tcp(int rank, int ranks, const struct sw_tcp_config *config) {
    struct sw_comm *comm = sw_comm_new(rank, ranks, &tcp_transport, &config->link);
    if (!comm) return NULL;
    struct tcp *tcp = calloc(1, sizeof *tcp + (size_t)ranks * sizeof(struct connection));
    if (!tcp) {
        sw_comm_free(comm);
        return NULL;
    }
    for (int p = 0; p < ranks; p++) tcp->connections[p].fd = config->fds[p];
    comm->state = tcp;
    return comm;
}
