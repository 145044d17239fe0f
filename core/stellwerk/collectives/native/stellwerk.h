/* The collective core's native half: what Python (through ctypes) and the C tests see.
 *
 * A collective is a *schedule*: a list of steps that stellwerk.collectives.algorithms builds. This library moves the
 * bytes (a transport) and executes the steps. It never decides which algorithm runs.
 *
 * Threads: one thread at a time may be inside sw_execute / sw_resume. sw_abort and sw_health may be called from any thread.
 */
#ifndef STELLWERK_H
#define STELLWERK_H

#include <stdint.h>

#define SW_ABI 2
#define SW_MAX_RANKS 32
#define SW_MAX_RAILS 4
#define SW_MAX_PORTS 16
#define SW_NO_PORT 255
#define SW_TEXT 200

#if defined(__GNUC__)
#define SW_API __attribute__((visibility("default")))
#else
#define SW_API
#endif

enum sw_status {
    SW_OK = 0,
    SW_AGAIN = 1, /* the time slice is over, call sw_resume */
    SW_CLOSED = -1, /* a peer's connection ended */
    SW_MISMATCH = -2, /* a peer is in another operation, shape, type or order */
    SW_ABORTED = -3, /* sw_abort was called */
    SW_IO = -4, /* the operating system or the device refused */
    SW_ARGUMENT = -5,
    SW_MEMORY = -6,
};

enum sw_dtype { SW_F32, SW_F64, SW_F16, SW_BF16, SW_I32, SW_I64, SW_U8, SW_DTYPES };
enum sw_redop { SW_SUM, SW_AVG, SW_MAX, SW_MIN, SW_PRODUCT, SW_REDOPS };

/* What all ranks must agree on for one call. It travels in every message. */
struct sw_call {
    uint64_t count; /* elements of the operation */
    uint32_t seq; /* number of the call in this communicator, set by sw_execute */
    uint16_t op;
    uint16_t algorithm;
    uint8_t dtype;
    uint8_t redop;
    uint16_t root;
};

enum sw_where { SW_INPUT, SW_OUTPUT, SW_SCRATCH, SW_MESSAGE };
enum sw_kind { SW_SEND, SW_RECV, SW_WAIT, SW_RELEASE, SW_COPY, SW_REDUCE, SW_FLUSH };

/* One operand: bytes at an offset of a buffer, or the current message of a peer. */
struct sw_operand {
    uint64_t offset; /* bytes */
    uint8_t where;
    uint8_t peer; /* for SW_MESSAGE */
    uint8_t wide; /* holds the accumulation type (float32 for the half types) and not the data type */
    uint8_t pad[5];
};

struct sw_step {
    struct sw_operand dst; /* RECV, COPY, REDUCE */
    uint64_t len; /* bytes; for REDUCE elements */
    uint32_t first; /* index of the first source; SEND and COPY have one, REDUCE has `sources` */
    uint32_t sources;
    uint32_t mask; /* SEND: the peers, one bit each */
    uint8_t kind;
    uint8_t peer; /* RECV, WAIT, RELEASE */
    uint8_t finish; /* REDUCE: last one of its elements, so an average divides now */
    uint8_t pad;
};

struct sw_plan {
    struct sw_call call;
    const struct sw_step *steps;
    const struct sw_operand *sources;
    uint64_t scratch_bytes;
    uint32_t step_count;
    uint32_t ranks_in_average;
};

/* An emulated link: a received message is held back until delay + bytes / rate have passed since it was sent. */
struct sw_link {
    uint64_t delay_ns;
    uint64_t bytes_per_s; /* 0: unlimited */
};

struct sw_failure {
    int32_t status;
    int32_t peer; /* -1: none in particular */
    int32_t system_error; /* errno, 0 if none */
    struct sw_call expected;
    struct sw_call got;
    uint64_t expected_bytes;
    uint64_t got_bytes;
    char text[SW_TEXT];
};

struct sw_health {
    uint64_t calls; /* collectives begun */
    uint64_t done; /* collectives completed */
    uint64_t messages; /* sent */
    uint64_t bytes; /* sent */
    uint64_t blocked; /* times the library went to sleep in the kernel */
    int32_t waiting_on; /* rank whose message is awaited, -1: none */
    int32_t aborted;
};

struct sw_comm; /* opaque */

struct sw_tcp_config {
    const int32_t *fds; /* one connected, non-blocking stream socket per rank, -1 at the own rank; owned by the caller */
    struct sw_link link;
};

struct sw_shm_config {
    void *base; /* the shared mapping, zeroed at creation */
    uint64_t ring_bytes; /* data area per rank; at least three times what a schedule sends before it waits */
    struct sw_link link;
};

/* One way into the fabric: a port of an RDMA device, and the GID that is used on it. */
struct sw_verbs_port {
    const char *device;
    uint8_t number;
    uint8_t gid_index;
    uint8_t pad[6];
};

/* What a rank tells every peer so that queue pairs can be joined. */
struct sw_verbs_address {
    uint8_t gid[16];
    uint64_t base; /* virtual address of the region */
    uint32_t key; /* remote key */
    uint32_t qpn; /* number of the queue pair made for that peer */
    uint32_t psn;
    uint32_t mtu; /* enum ibv_mtu */
    uint16_t lid;
    uint16_t pad[3];
};

SW_API int sw_abi(void);
SW_API const char *sw_sources(void); /* names the sources it was built from */
SW_API uint64_t sw_struct_sizes(void); /* a checksum over sizeof, so that a foreign build is noticed */
SW_API uint64_t sw_now_ns(void);

SW_API uint64_t sw_shm_bytes(int ranks, uint64_t ring_bytes);
SW_API struct sw_comm *sw_open_tcp(int rank, int ranks, const struct sw_tcp_config *config);
SW_API struct sw_comm *sw_open_shm(int rank, int ranks, const struct sw_shm_config *config);

/* verbs opens in two halves: make the queue pairs and learn the own addresses (ranks * rails of them, peer-major),
 * exchange, then join. `routes[peer * rails + rail]` is the index of the port by which a peer is reached; SW_NO_PORT on
 * all rails of a peer: not reached, and nothing can be sent to it. Returns NULL with the reason in `why`. */
SW_API struct sw_comm *sw_open_verbs(int rank, int ranks, const struct sw_verbs_port *ports, int port_count, const uint8_t *routes,
    int rails, uint64_t slot_bytes, const char *library, char why[SW_TEXT]);
SW_API int sw_verbs_addresses(struct sw_comm *comm, struct sw_verbs_address *out);
SW_API int sw_verbs_join(struct sw_comm *comm, const struct sw_verbs_address *peers);

SW_API int sw_execute(struct sw_comm *comm, const struct sw_plan *plan, const void *input, void *output, uint64_t slice_ns);
SW_API int sw_resume(struct sw_comm *comm, uint64_t slice_ns);
/* How to wait: `pauses` looks on the processor, then `spins` looks with sched_yield between, then sleep. */
SW_API void sw_set_waiting(struct sw_comm *comm, uint32_t pauses, uint32_t spins);
SW_API void sw_abort(struct sw_comm *comm);
SW_API void sw_failure(const struct sw_comm *comm, struct sw_failure *out);
SW_API void sw_health(const struct sw_comm *comm, struct sw_health *out);
SW_API void sw_close(struct sw_comm *comm);

/* Reduce `sources` arrays of `count` elements in the given order; for the C tests and the start-up tests. */
SW_API int sw_reduce_arrays(
    int dtype, int redop, void *dst, const void *const *sources, int source_count, uint64_t count, uint32_t ranks_in_average);

/* Start-up tests: reproducible data of a rank, and the number of elements that differ from a float64 reference. */
SW_API int sw_test_fill(uint64_t seed, int rank, int dtype, int redop, void *data, uint64_t count);
SW_API int64_t sw_test_check(uint64_t seed, int ranks, int dtype, int redop, const void *data, uint64_t count);

#endif
