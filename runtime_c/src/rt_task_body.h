/* The work of one task: find the role by name, assemble its prompt, probe the context, write an output.
 *
 * It knows nothing of scheduling, so that another executor can run the very same work. */
#ifndef RT_TASK_BODY_H
#define RT_TASK_BODY_H

#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_context_store.h"
#include "rt_histogram.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdint.h>

#define RT_TASK_BODY_MAX_OUTPUT_BYTES (16u << 20)
#define RT_TASK_BODY_MAX_PROBES 1000000u

typedef struct rt_task_body rt_task_body;

typedef struct rt_task_body_options {
    rt_allocator *allocator; /* outlives the body */
    const rt_clock *clock;   /* for the sampled spans only; outlives the body */
    uint64_t seed;
    uint32_t agents;
    uint32_t workers; /* how many threads may run tasks at the same time */
    uint32_t probes;
    uint64_t context_bytes;
    uint32_t output_bytes;
    rt_access_pattern pattern; /* of the probes */
} rt_task_body_options;

/* Registers the roles and fills the context. RT_INVALID, RT_NO_MEMORY: nothing is kept, *out is NULL. */
rt_status rt_task_body_create(const rt_task_body_options *options, rt_task_body **out, rt_message *why);
void rt_task_body_destroy(rt_task_body *self); /* NULL is allowed */

/* Runs task run->task_id with the state of worker run->worker. RT_NOT_FOUND: no such role; counted.
 * RT_TOO_SMALL: the output buffer is shorter than output_bytes. `self` is an rt_task_body. */
rt_status rt_task_body_run(void *self, rt_task_run *run);

/* What the tasks did, summed over the workers. Only while nothing runs. */
typedef struct rt_task_body_counts {
    uint64_t role_lookups, lookups_failed, prompt_bytes, probes_done, output_bytes_written;
    uint64_t clamped_intervals; /* sampled spans whose end lay before their start */
    uint64_t
        probe_checksum; /* sum of a mix of (task id, what it read): the order of the tasks does not matter */
} rt_task_body_counts;
void rt_task_body_count(const rt_task_body *self, rt_task_body_counts *out);

/* What one task adds to those counts, by formula: no buffer and no registry is read. */
void rt_task_body_expect(const rt_task_body *self, uint64_t task_id, rt_task_body_counts *sum);

/* The context that the tasks read, for whoever rewrites it; it belongs to the body. */
rt_context_store *rt_task_body_context(rt_task_body *self);

/* From now on the tasks read a snapshot of what the context holds now, so that it can be rewritten while they run. Only while
 * nothing runs. RT_NO_MEMORY: they read the context as before. RT_EXISTS: there is such a snapshot already. */
rt_status rt_task_body_pin(rt_task_body *self, rt_message *why);

/* Checksum of the context now, and what it must be by formula. */
uint64_t rt_task_body_context_checksum(const rt_task_body *self);
uint64_t rt_task_body_context_expected(const rt_task_body *self);

/* Adds the sampled spans of all workers. Only while nothing runs. */
void rt_task_body_merge_lookup(const rt_task_body *self, rt_histogram *into);
void rt_task_body_merge_prompt(const rt_task_body *self, rt_histogram *into);

typedef struct rt_task_body_bytes {
    uint64_t runtime_bytes; /* registry, tables of the context, workers' state */
    uint64_t context_bytes;
    uint64_t histogram_bytes;
} rt_task_body_bytes;
void rt_task_body_account(const rt_task_body *self, rt_task_body_bytes *out);

#endif
