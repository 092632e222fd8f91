/* Which tasks are to fail, to be slow, to be cancelled: decided by a hash of (seed, id) alone, so that the run
 * and its verification choose the same ones, whatever the order of the tasks. */
#ifndef RT_FAULTS_H
#define RT_FAULTS_H

#include "rt_random.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum rt_fault { RT_FAULT_FAIL, RT_FAULT_SLOW, RT_FAULT_CANCEL, RT_FAULTS } rt_fault;

/* Fields are read-only after init. */
typedef struct rt_faults {
    uint64_t seed;
    uint64_t tasks;
    uint32_t permille[RT_FAULTS]; /* 0 .. 1000 */
    bool ramp;                    /* the shares rise from 0 at the first task to full at the last */
} rt_faults;

/* Below this value of 2^64 the hash of task `id` chooses it; 2^64 is always. */
static inline unsigned __int128 rt_faults_bound(const rt_faults *self, rt_fault fault, uint64_t id) {
    const unsigned __int128 share = ((unsigned __int128)self->permille[fault] << 64) / 1000u;
    if (!self->ramp || self->tasks < 2) {
        return share;
    }
    return (share >> 40) * id / (self->tasks - 1) << 40; /* 2^-24 of precision is enough for a share */
}

/* id < tasks. */
static inline bool rt_faults_choose(const rt_faults *self, rt_fault fault, uint64_t id) {
    return self->permille[fault] > 0 && rt_random_at(self->seed ^ rt_random_mix((uint64_t)fault + 1u), id) <
                                            rt_faults_bound(self, fault, id);
}

/* How many of all tasks are chosen. */
uint64_t rt_faults_count(const rt_faults *self, rt_fault fault);

/* Whether any task can be chosen for anything. */
static inline bool rt_faults_any(const rt_faults *self) {
    return self->permille[RT_FAULT_FAIL] + self->permille[RT_FAULT_SLOW] + self->permille[RT_FAULT_CANCEL] > 0;
}

#endif
