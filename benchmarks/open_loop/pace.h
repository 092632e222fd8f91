/* The pacing of every executor here: one thread submits each task at its intended time or, when it comes too
 * late, at once. It sleeps at least PACE_SHORTEST_NS, so several tasks are due when it wakes. */
#ifndef PACE_H
#define PACE_H

#include "bench.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACE_SHORTEST_NS 80000u
#define PACE_BATCH 32u

/* Hands over `count` tasks (at most PACE_BATCH) from first_id on, with their intended times. */
typedef void (*pace_submit)(void *context, uint64_t first_id, size_t count, const uint64_t *intended_ns);

/* Submits options->tasks tasks at options->rate_per_s; returns after the last. */
void pace(const bench_options *options, pace_submit submit, void *context);

int open_tallymark(const bench_options *options, measure_outcome *outcome);
int open_onetbb(const bench_options *options, measure_outcome *outcome);
__attribute__((weak)) int open_taskflow(const bench_options *options, measure_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
