/* The runtime's scheduler with the benchmark's body, without a workload around it: bodies that a workload
 * does not have, and submission in an open loop. */
#ifndef DIRECT_H
#define DIRECT_H

#include "bench.h"

#include "rt_scheduler.h"
#include "rt_task_pool.h"

typedef struct direct {
    rt_allocator allocator;
    const bench_options *options;
    bench_body *body;
    rt_task_pool *pool;
    rt_scheduler *scheduler;
} direct;

#define DIRECT_BATCH 32u /* tasks that are submitted at once */

/* Room for `objects` tasks in flight. Ends the program when there is no memory. */
void direct_start(direct *self, const bench_options *options, uint64_t objects);
/* Submits `count` tasks (at most DIRECT_BATCH) from first_id on, each with its time, or all with `now`. */
void direct_submit(direct *self, uint64_t first_id, size_t count, const uint64_t *submitted_ns);
/* Waits for all, and reports checksum, count and percentiles of the queue time. */
void direct_finish(direct *self, measure_outcome *outcome);
void direct_end(direct *self);

#endif
