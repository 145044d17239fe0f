/* A libibverbs in memory: the same calls, a "wire" that delivers work requests late and in a random order between queue
 * pairs (never within one), and faults on demand. SIMULATED: no RDMA hardware or driver is involved. */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

enum fake_fault {
    FAKE_FINE,
    FAKE_NO_DEVICE,
    FAKE_PORT_DOWN,
    FAKE_NO_MEMORY_REGISTRATION,
    FAKE_UNREACHABLE, /* modify_qp to RTR: ETIMEDOUT, what a wrong cable looks like */
    FAKE_BROKEN_QP, /* the n-th work request completes with an error, its queue pair is dead from then on */
    FAKE_FULL_QUEUE, /* the n-th post is refused */
};

void fake_reset(enum fake_fault fault, unsigned after, unsigned seed);
unsigned fake_open_objects(void); /* contexts, domains, regions, queues that were not given back */
unsigned fake_writes_on(int device);
#endif
