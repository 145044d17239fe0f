/* The few schedules that the C tests need, written by hand: the real ones are built and tested in Python. */
#ifndef SCHEDULES_H
#define SCHEDULES_H
#include <string.h>

#include "../../core/stellwerk/collectives/native/stellwerk.h"
#include "check.h"

#define STEPS_MAX 512

struct schedule {
    struct sw_plan plan;
    struct sw_step steps[STEPS_MAX];
    struct sw_operand sources[STEPS_MAX];
    uint32_t source_count;
};

static inline struct sw_operand at(int where, uint64_t offset, int peer) {
    struct sw_operand operand = {.offset = offset, .where = (uint8_t)where, .peer = (uint8_t)peer};
    return operand;
}

static inline struct sw_step *add(struct schedule *s, int kind) {
    CHECK(s->plan.step_count < STEPS_MAX);
    struct sw_step *step = &s->steps[s->plan.step_count++];
    memset(step, 0, sizeof *step);
    step->kind = (uint8_t)kind;
    step->first = s->source_count;
    return step;
}

static inline void source(struct schedule *s, struct sw_step *step, struct sw_operand operand) {
    CHECK(s->source_count < STEPS_MAX);
    s->sources[s->source_count++] = operand;
    step->sources++;
}

static inline void begin(struct schedule *s, int op, int dtype, uint64_t count, int ranks) {
    memset(s, 0, sizeof *s);
    s->plan.steps = s->steps;
    s->plan.sources = s->sources;
    s->plan.call.op = (uint16_t)op;
    s->plan.call.dtype = (uint8_t)dtype;
    s->plan.call.count = count;
    s->plan.ranks_in_average = (uint32_t)ranks;
}

/* Everybody sends everything to everybody, in pieces of `piece` elements, and adds up in rank order. */
static inline void direct_all_reduce(struct schedule *s, int rank, int ranks, uint64_t count, uint64_t piece) {
    begin(s, 1, SW_F32, count, ranks);
    uint32_t everybody = ((1u << ranks) - 1) & ~(1u << rank);
    s->plan.scratch_bytes = piece * 4 * (uint64_t)ranks + 64;
    for (uint64_t start = 0; start < count; start += piece) {
        uint64_t n = count - start < piece ? count - start : piece;
        for (int p = 0; p < ranks; p++) {
            if (p == rank) continue;
            struct sw_step *recv = add(s, SW_RECV);
            recv->peer = (uint8_t)p;
            recv->dst = at(SW_SCRATCH, piece * 4 * (uint64_t)p, 0);
            recv->len = n * 4;
        }
        struct sw_step *send = add(s, SW_SEND);
        send->mask = everybody;
        send->len = n * 4;
        source(s, send, at(SW_INPUT, start * 4, 0));
        for (int p = 0; p < ranks; p++)
            if (p != rank) add(s, SW_WAIT)->peer = (uint8_t)p;
        add(s, SW_FLUSH);
        struct sw_step *reduce = add(s, SW_REDUCE);
        reduce->dst = at(SW_OUTPUT, start * 4, 0);
        reduce->len = n;
        reduce->finish = 1;
        for (int p = 0; p < ranks; p++) source(s, reduce, p == rank ? at(SW_INPUT, start * 4, 0) : at(SW_MESSAGE, 0, p));
        for (int p = 0; p < ranks; p++)
            if (p != rank) add(s, SW_RELEASE)->peer = (uint8_t)p;
    }
}

/* A message to every peer, of a length of its own, twice over: fills rings with pieces of very different sizes. */
static inline void uneven_exchange(struct schedule *s, int rank, int ranks, uint64_t unit) {
    begin(s, 5, SW_U8, unit, ranks);
    s->plan.scratch_bytes = unit * (uint64_t)ranks * 4 + 64;
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < ranks; i++) {
            int p = (rank + ranks - i) % ranks;
            struct sw_step *recv = add(s, SW_RECV);
            recv->peer = (uint8_t)p;
            recv->dst = at(SW_SCRATCH, unit * (uint64_t)p * 2, 0);
            recv->len = unit * (uint64_t)(1 + (rank + p + round) % 2) / 2;
        }
        for (int i = 1; i < ranks; i++) {
            int p = (rank + i) % ranks;
            struct sw_step *send = add(s, SW_SEND);
            send->mask = 1u << p;
            send->len = unit * (uint64_t)(1 + (rank + p + round) % 2) / 2;
            source(s, send, at(SW_INPUT, 0, 0));
        }
        for (int i = 1; i < ranks; i++) {
            int p = (rank + ranks - i) % ranks;
            add(s, SW_WAIT)->peer = (uint8_t)p;
        }
        for (int i = 1; i < ranks; i++) add(s, SW_RELEASE)->peer = (uint8_t)((rank + ranks - i) % ranks);
        add(s, SW_FLUSH);
    }
}
#endif
