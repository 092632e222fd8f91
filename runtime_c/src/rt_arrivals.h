/* When the tasks of an open loop are due: at a constant rate or as a Poisson process, in phases or without.
 *
 * Phases repeat: steady at the rate, then a pause without arrivals, then a burst at burst_factor times the
 * rate. Both processes are made in steady time and stretched onto the phases, so a Poisson process stays one,
 * with the rate of its phase. Integers alone: the same options give the same times on every machine. */
#ifndef RT_ARRIVALS_H
#define RT_ARRIVALS_H

#include "rt_random.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum rt_load_phase {
    RT_LOAD_STEADY,
    RT_LOAD_PAUSE,
    RT_LOAD_BURST,
    RT_LOAD_DRAIN, /* everything is submitted */
    RT_LOAD_PHASES
} rt_load_phase;
const char *rt_load_phase_name(rt_load_phase phase); /* "steady", "pause", "burst", "drain" */

typedef struct rt_arrivals_options {
    uint64_t seed;
    bool poisson;        /* else task i is due at i / rate_per_s, without accumulating an error */
    uint64_t rate_per_s; /* 1 .. 10^9 */
    uint64_t steady_ms;  /* 0: no phases; the three below are 0, 0 and 1 then */
    uint64_t pause_ms;
    uint64_t burst_ms;
    uint64_t burst_factor; /* >= 1 */
} rt_arrivals_options;

/* All times in nanoseconds since the start. Fields are private. */
typedef struct rt_arrivals {
    rt_arrivals_options options;
    rt_random random;
    uint64_t index;
    unsigned __int128 position; /* of the next task in steady time, in 2^-20 ns */
    uint64_t due_ns;
} rt_arrivals;

void rt_arrivals_init(rt_arrivals *self, const rt_arrivals_options *options);

/* When the next task is due. Never falls. */
static inline uint64_t rt_arrivals_due_ns(const rt_arrivals *self) { return self->due_ns; }

/* Goes on to the task after it. */
void rt_arrivals_advance(rt_arrivals *self);

/* The phase at this time, and when it ends: RT_LOAD_STEADY and UINT64_MAX without phases. */
rt_load_phase rt_arrivals_phase(const rt_arrivals_options *options, uint64_t at_ns, uint64_t *end_ns);

/* How long one round of the phases is; 0 without. */
uint64_t rt_arrivals_cycle_ns(const rt_arrivals_options *options);

/* When so many tasks will have been due, on average. */
uint64_t rt_arrivals_expected_ns(const rt_arrivals_options *options, uint64_t tasks);

#endif
