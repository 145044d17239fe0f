/* Messages through memory that all ranks of a host map. A sender copies its bytes once into its own data ring and
 * tells each receiver where they are; receivers read in place. The segment has no name (memfd), so it cannot leak. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define NOTES 32 /* messages per ordered pair that may be unread */
#define PIECES 64 /* messages of one sender whose bytes are still in use */
#define LINE 64
#define SMALL 16384 /* bytes; smaller messages have a ring of their own, which stays in the cache */
#define SMALL_RING (1 << 20)

/* What the sender tells one receiver about one message. */
struct note {
    struct sw_header header;
    uint64_t offset; /* into the sender's data ring */
} __attribute__((aligned(LINE)));

/* One ordered pair. `written` and `read` are on lines of their own: each is written by one side and watched by the other. */
struct mailbox {
    _Alignas(LINE) _Atomic uint64_t written;
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) struct note notes[NOTES];
};

/* Where a rank sleeps. */
struct bed {
    _Alignas(LINE) _Atomic uint32_t bell; /* futex */
    _Atomic uint32_t asleep;
};

enum { AWAKE, FOR_MESSAGE, FOR_ROOM };

/* A stretch of a ring that receivers may still read. */
struct piece {
    uint64_t start;
    uint32_t mask;
    uint64_t index[SW_MAX_RANKS]; /* per receiver: the number of its note */
};

/* Memory that the own messages are put into, one after the other and around. A schedule sends at most its window
 * before it has to wait; a ring holds more than that, so waiting for room means waiting for ranks that are behind,
 * and those never wait for us. (Going back to the start early would break that: what lies ahead is room, too.) */
struct ring {
    uint64_t base, bytes; /* within the own data area */
    uint64_t head; /* where the next piece would start */
    uint32_t first, last; /* counters into pieces */
    struct piece pieces[PIECES];
};

struct shm {
    struct bed *beds;
    struct mailbox *boxes; /* [sender * ranks + receiver] */
    unsigned char *rings; /* [rank * ring_bytes] */
    uint64_t ring_bytes;
    uint64_t written[SW_MAX_RANKS]; /* own notes to each receiver */
    uint64_t taken[SW_MAX_RANKS]; /* notes of each sender that were released */
    uint64_t ready_ns[SW_MAX_RANKS]; /* emulated link: of the oldest unreleased message; 0: not looked at yet */
    uint64_t expected_len[SW_MAX_RANKS][NOTES];
    uint64_t expected[SW_MAX_RANKS];
    struct ring small, large;
};

static struct shm *shm_of(struct sw_comm *comm) { return comm->state; }

static uint64_t round_up(uint64_t bytes) { return (bytes + 4095) & ~(uint64_t)4095; }

static struct mailbox *box(struct sw_comm *comm, int from, int to) { return &shm_of(comm)->boxes[from * comm->ranks + to]; }

uint64_t sw_shm_bytes(int ranks, uint64_t ring_bytes) {
    uint64_t n = (uint64_t)ranks;
    return round_up(n * sizeof(struct bed)) + round_up(n * n * sizeof(struct mailbox)) + n * ring_bytes;
}

/* ---- sleeping --------------------------------------------------------------------------------------------------- */

static void ring_bell(struct bed *bed) {
    atomic_fetch_add_explicit(&bed->bell, 1, memory_order_release);
    /* An unaligned or unmapped address is the only possible error, and it would be a bug of ours. */
    (void)syscall(SYS_futex, &bed->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wake_receivers(struct sw_comm *comm, uint32_t mask) {
    /* Pairs with the fence in shm_sleep: either we see that the peer sleeps, or it sees what we wrote. */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        struct bed *bed = &shm_of(comm)->beds[__builtin_ctz(rest)];
        if (atomic_load_explicit(&bed->asleep, memory_order_relaxed) != AWAKE) ring_bell(bed);
    }
}

static bool has_come(struct sw_comm *comm, int peer) {
    return atomic_load_explicit(&box(comm, peer, comm->rank)->written, memory_order_acquire) != shm_of(comm)->taken[peer];
}

static int shm_sleep(struct sw_comm *comm, uint64_t max_ns) {
    struct shm *shm = shm_of(comm);
    struct bed *bed = &shm->beds[comm->rank];
    int awaited = atomic_load_explicit(&comm->waiting_on, memory_order_relaxed);
    bool full_ring = awaited < 0;
    bool held_back = !full_ring && shm->ready_ns[awaited] > 1;
    if (held_back && !sw_until_ready(shm->ready_ns[awaited], &max_ns)) return SW_OK;
    uint32_t bell = atomic_load_explicit(&bed->bell, memory_order_acquire);
    atomic_store_explicit(&bed->asleep, full_ring ? FOR_ROOM : FOR_MESSAGE, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    /* Receivers look at `asleep` without a fence, to keep release() cheap: a missed bell costs this long, and is rare. */
    if (full_ring && max_ns > 1000000) max_ns = 1000000;
    if (full_ring || held_back || !has_come(comm, awaited)) {
        struct timespec t = {(time_t)(max_ns / 1000000000u), (long)(max_ns % 1000000000u)};
        long r = syscall(SYS_futex, &bed->bell, FUTEX_WAIT, bell, &t, NULL, 0);
        if (r < 0 && errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) {
            atomic_store_explicit(&bed->asleep, AWAKE, memory_order_relaxed);
            return sw_fail(comm, SW_IO, -1, errno, "futex: %s", strerror(errno));
        }
    }
    atomic_store_explicit(&bed->asleep, AWAKE, memory_order_relaxed);
    return SW_OK;
}

/* ---- the own data rings ------------------------------------------------------------------------------------------ */

static bool piece_is_read(struct sw_comm *comm, const struct piece *piece) {
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        if (atomic_load_explicit(&box(comm, comm->rank, peer)->read, memory_order_acquire) < piece->index[peer]) return false;
    }
    return true;
}

/* Room for `len` bytes; NULL if receivers have to read first. The piece is in use once `last` has been counted up. */
static struct piece *allocate(struct sw_comm *comm, struct ring *ring, uint64_t len) {
    while (ring->first != ring->last && piece_is_read(comm, &ring->pieces[ring->first % PIECES])) ring->first++;
    if (ring->last - ring->first == PIECES) return NULL;
    struct piece *piece = &ring->pieces[ring->last % PIECES];
    if (ring->first == ring->last) {
        piece->start = 0;
        return len <= ring->bytes ? piece : NULL;
    }
    uint64_t oldest = ring->pieces[ring->first % PIECES].start;
    bool wrapped = ring->head <= oldest;
    piece->start = ring->head;
    if (!wrapped && ring->head + len > ring->bytes) {
        piece->start = 0;
        wrapped = true;
    }
    return piece->start + len <= (wrapped ? oldest : ring->bytes) ? piece : NULL;
}

/* ---- the transport ---------------------------------------------------------------------------------------------- */

static int shm_send(struct sw_comm *comm, uint32_t mask, const void *src, uint64_t len) {
    struct shm *shm = shm_of(comm);
    struct ring *ring = len <= SMALL ? &shm->small : &shm->large;
    uint64_t room = (len + LINE - 1) & ~(uint64_t)(LINE - 1);
    if (room == 0) room = LINE; /* an empty piece would confuse a full ring with an empty one */
    if (room > ring->bytes) return sw_fail(comm, SW_ARGUMENT, -1, 0, "a message of %llu bytes exceeds the ring", (unsigned long long)len);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int peer = __builtin_ctz(rest);
        if (shm->written[peer] - atomic_load_explicit(&box(comm, comm->rank, peer)->read, memory_order_acquire) == NOTES) return SW_AGAIN;
    }
    struct piece *piece = allocate(comm, ring, room);
    if (!piece) return SW_AGAIN;
    uint64_t offset = ring->base + piece->start;
    if (len) memcpy(shm->rings + (uint64_t)comm->rank * shm->ring_bytes + offset, src, len);
    piece->mask = mask;
    struct sw_header header = sw_make_header(comm, len);
    for (int i = 1; i < comm->ranks; i++) {
        int peer = (comm->rank + i) % comm->ranks;
        if (!(mask >> peer & 1u)) continue;
        struct mailbox *mailbox = box(comm, comm->rank, peer);
        struct note *note = &mailbox->notes[shm->written[peer] % NOTES];
        note->header = header;
        note->offset = offset;
        piece->index[peer] = ++shm->written[peer];
        atomic_store_explicit(&mailbox->written, shm->written[peer], memory_order_release);
    }
    ring->head = piece->start + room;
    ring->last++;
    wake_receivers(comm, mask);
    return SW_OK;
}

static int shm_recv(struct sw_comm *comm, int peer, void *dst, uint64_t len) {
    struct shm *shm = shm_of(comm);
    (void)dst; /* messages are read where they are */
    if (shm->expected[peer] - shm->taken[peer] == NOTES) return sw_fail(comm, SW_ARGUMENT, peer, 0, "too many messages expected at once");
    shm->expected_len[peer][shm->expected[peer]++ % NOTES] = len;
    return SW_OK;
}

static int shm_arrived(struct sw_comm *comm, int peer, const void **data) {
    struct shm *shm = shm_of(comm);
    struct mailbox *mailbox = box(comm, peer, comm->rank);
    uint64_t index = shm->taken[peer];
    if (atomic_load_explicit(&mailbox->written, memory_order_acquire) == index) return SW_AGAIN;
    const struct note *note = &mailbox->notes[index % NOTES];
    if (shm->ready_ns[peer] == 0) {
        int status = sw_check_header(comm, peer, &note->header, shm->expected_len[peer][index % NOTES]);
        if (status != SW_OK) return status;
        shm->ready_ns[peer] = sw_link_ready_ns(comm, &note->header);
        if (shm->ready_ns[peer] == 0) shm->ready_ns[peer] = 1; /* looked at, ready since ever */
    }
    if (shm->ready_ns[peer] > 1 && sw_clock_ns() < shm->ready_ns[peer]) return SW_AGAIN;
    if (note->offset > shm->ring_bytes || note->header.bytes > shm->ring_bytes - note->offset)
        return sw_fail(comm, SW_IO, peer, 0, "rank %d wrote a note that points outside its ring", peer);
    *data = shm->rings + (uint64_t)peer * shm->ring_bytes + note->offset;
    return SW_OK;
}

static int shm_release(struct sw_comm *comm, int peer) {
    struct shm *shm = shm_of(comm);
    shm->taken[peer]++;
    shm->ready_ns[peer] = 0;
    atomic_store_explicit(&box(comm, peer, comm->rank)->read, shm->taken[peer], memory_order_release);
    struct bed *bed = &shm->beds[peer];
    if (atomic_load_explicit(&bed->asleep, memory_order_relaxed) == FOR_ROOM) ring_bell(bed);
    return SW_OK;
}

static bool shm_flushed(struct sw_comm *comm) {
    (void)comm;
    return true; /* send copies */
}

static int shm_progress(struct sw_comm *comm, int peer, bool everything) {
    (void)comm, (void)peer, (void)everything; /* nothing moves but by send, arrived and release */
    return SW_OK;
}

static void shm_close(struct sw_comm *comm) { free(comm->state); } /* the mapping belongs to Python */

static const struct sw_transport shm_transport = {
    .send = shm_send,
    .recv = shm_recv,
    .arrived = shm_arrived,
    .release = shm_release,
    .flushed = shm_flushed,
    .progress = shm_progress,
    .sleep = shm_sleep,
    .close = shm_close,
};

struct sw_comm *sw_open_shm(int rank, int ranks, const struct sw_shm_config *config) {
    struct sw_comm *comm = sw_comm_new(rank, ranks, &shm_transport, &config->link);
    if (!comm) return NULL;
    struct shm *shm = calloc(1, sizeof *shm);
    if (!shm) {
        sw_comm_free(comm);
        return NULL;
    }
    uint64_t n = (uint64_t)ranks;
    unsigned char *base = config->base;
    shm->beds = (struct bed *)(void *)base;
    shm->boxes = (struct mailbox *)(void *)(base + round_up(n * sizeof(struct bed)));
    shm->rings = base + round_up(n * sizeof(struct bed)) + round_up(n * n * sizeof(struct mailbox));
    shm->ring_bytes = config->ring_bytes;
    shm->small.bytes = config->ring_bytes / 4 < SMALL_RING ? config->ring_bytes / 4 : SMALL_RING;
    shm->large.base = shm->small.bytes;
    shm->large.bytes = config->ring_bytes - shm->small.bytes;
    comm->state = shm;
    return comm;
}
