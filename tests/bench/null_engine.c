/* The null engine of the gateway benchmark, as cheap as the kernel allows: what load and engine cost is not what is
 * measured, and on two cores they share them with the gateway. It says the same bytes as `stellwerk engine null`, which
 * writes them into FOLDER (tests/bench/gateway.py).
 *
 *     null_engine PORT FOLDER
 *
 * It reads just enough HTTP/1.1 to find where a request ends (a content-length, no chunks) and trusts its peer. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 2048, BATCH = 256, REQUEST = 1 << 16, TIMED_EVENTS = 5 };
static const long long PACE_NS = 4000000; /* between the events of a timed stream */

struct text {
    char *bytes;
    size_t length;
};

struct peer {
    int fd;
    size_t held;
    int sent; /* events of the timed stream; -1 when there is none */
    long long due_ns;
    struct peer *next_timed;
    char data[REQUEST];
};

static struct text models, whole, stream, first, other, before, after, end;
static struct peer *timed;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static struct text load(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    struct text text = {NULL, (size_t)ftell(file)};
    rewind(file);
    text.bytes = malloc(text.length + 1);
    if (!text.bytes || fread(text.bytes, 1, text.length, file) != text.length) fail(path);
    fclose(file);
    return text;
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Whole or not at all: answers are far smaller than a socket's buffer, a peer that does not read them is dropped. */
static int say(struct peer *peer, const char *bytes, size_t length) {
    return send(peer->fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length ? 0 : -1;
}

static void forget(struct peer *peer) {
    for (struct peer **at = &timed; *at; at = &(*at)->next_timed)
        if (*at == peer) {
            *at = peer->next_timed;
            break;
        }
    close(peer->fd);
    free(peer);
}

static int answer(struct peer *peer, const char *body, size_t length) {
    if (!memcmp(peer->data, "GET", 3)) return say(peer, models.bytes, models.length);
    if (!memmem(body, length, "\"stream\":true", 13) && !memmem(body, length, "\"stream\": true", 14))
        return say(peer, whole.bytes, whole.length);
    if (!memmem(body, length, "[timed]", 7)) return say(peer, stream.bytes, stream.length);
    peer->sent = 0;
    peer->due_ns = now_ns();
    peer->next_timed = timed;
    timed = peer;
    return 0;
}

/* The next event of each timed stream that is due; the last one carries the time at which it is written. */
static void pace(void) {
    for (struct peer **at = &timed; *at;) {
        struct peer *peer = *at;
        if (peer->due_ns > now_ns()) {
            at = &peer->next_timed;
        } else if (peer->sent < TIMED_EVENTS) {
            struct text *part = peer->sent++ ? &other : &first;
            peer->due_ns += PACE_NS;
            if (say(peer, part->bytes, part->length)) shutdown(peer->fd, SHUT_RDWR);
            at = &peer->next_timed;
        } else {
            char event[4096], chunk[8192];
            int size = snprintf(event, sizeof event, "%.*s%lld%.*s", (int)before.length, before.bytes, now_ns(),
                                (int)after.length, after.bytes);
            int all = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n%.*s", size, event, (int)end.length, end.bytes);
            *at = peer->next_timed;
            peer->sent = -1;
            if (say(peer, chunk, (size_t)all)) shutdown(peer->fd, SHUT_RDWR);
        }
    }
}

/* Every whole request that has come is answered; -1 when the connection is of no use any more. */
static int serve(struct peer *peer) {
    ssize_t got = recv(peer->fd, peer->data + peer->held, REQUEST - peer->held, 0);
    if (got <= 0) return got < 0 && errno == EAGAIN ? 0 : -1;
    peer->held += (size_t)got;
    for (;;) {
        char *stop = memmem(peer->data, peer->held, "\r\n\r\n", 4);
        if (!stop) return peer->held == REQUEST ? -1 : 0;
        *stop = 0; /* the head is a string now */
        char *field = strcasestr(peer->data, "\r\ncontent-length:");
        size_t length = field ? strtoul(field + 17, NULL, 10) : 0, head = (size_t)(stop - peer->data) + 4;
        *stop = '\r';
        if (length > REQUEST - head) return -1;
        if (peer->held < head + length) return 0;
        if (answer(peer, stop + 4, length)) return -1;
        peer->held -= head + length;
        if (!peer->held) return 0;
        memmove(peer->data, peer->data + head + length, peer->held);
    }
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: null_engine PORT FOLDER\n");
        return 2;
    }
    models = load(words[2], "models"), whole = load(words[2], "whole"), stream = load(words[2], "stream");
    first = load(words[2], "first"), other = load(words[2], "other"), end = load(words[2], "end");
    before = load(words[2], "before"), after = load(words[2], "after");
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1, poll = epoll_create1(0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, BACKLOG)) fail("listen");
    struct epoll_event asked = {.events = EPOLLIN}, ready[BATCH];
    if (epoll_ctl(poll, EPOLL_CTL_ADD, listener, &asked)) fail("epoll_ctl");
    for (;;) {
        int found = epoll_wait(poll, ready, BATCH, timed ? 1 : -1);
        if (found < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < found; i++) {
            struct peer *peer = ready[i].data.ptr;
            if (peer) {
                if (serve(peer)) forget(peer);
                continue;
            }
            int fd;
            while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                struct peer *fresh = malloc(sizeof *fresh);
                if (!fresh) fail("malloc");
                fresh->fd = fd, fresh->held = 0, fresh->sent = -1, fresh->next_timed = NULL;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = fresh};
                if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &wanted)) fail("epoll_ctl");
            }
        }
        pace();
    }
}
