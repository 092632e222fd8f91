/* The rollback experiment on a context store: cycles of snapshot -> rewrite a share of the chunks -> roll back.
 *
 * At rest, the caller's thread does the cycles; while tasks run, a thread of its own does (the mutator), and the
 * tasks read a snapshot that they hold. Each cycle proves itself: a rewritten chunk differs from before, and after
 * the rollback it is equal again. */
#ifndef RT_ROLLBACK_H
#define RT_ROLLBACK_H

#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_context_store.h"
#include "rt_histogram.h"
#include "rt_json.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdint.h>

typedef struct rt_rollback_options {
    rt_allocator *allocator;      /* outlives the experiment */
    const rt_clock *clock;        /* outlives the experiment */
    rt_context_store *context;    /* outlives the experiment; nobody else rewrites it */
    rt_thread_start start_thread; /* NULL: pthread_create; for rt_rollback_start only */
    uint64_t seed;                /* of what is written and which chunks */
    uint32_t cycles;
    uint32_t rewrite_permille; /* 0 .. 1000; above 0 at least one chunk is rewritten */
} rt_rollback_options;

typedef struct rt_rollback rt_rollback;

/* RT_INVALID, RT_NO_MEMORY: nothing is kept, *out is NULL. */
rt_status rt_rollback_create(const rt_rollback_options *options, rt_rollback **out, rt_message *why);

/* All cycles in the caller's thread. RT_STOPPED: a stop was asked for, the cycle in hand was completed. RT_NO_MEMORY:
 * the cycle was rolled back and not counted. RT_BUSY: done or started already. */
rt_status rt_rollback_run(rt_rollback *self, rt_message *why);

/* The same in a thread of its own. RT_NO_THREAD: nothing runs. RT_BUSY: done or started already. */
rt_status rt_rollback_start(rt_rollback *self, rt_message *why);

/* To be called when the tasks are done: keeps how many cycles were complete by then, waits for the others, ends the
 * thread. Returns what rt_rollback_run would. */
rt_status rt_rollback_join(rt_rollback *self, rt_message *why);

/* Ends the cycles soon. Async-signal-safe. */
void rt_rollback_request_stop(rt_rollback *self);

/* Only while no cycle runs. */
typedef struct rt_rollback_result {
    uint64_t cycles;                          /* complete ones */
    uint64_t cycles_while_tasks_ran;          /* of those, complete before rt_rollback_join; 0 at rest */
    uint64_t chunks_rewritten;                /* summed over the cycles */
    uint64_t bytes_copied;                    /* by copy on write */
    uint64_t checksum_before, checksum_after; /* of the whole context: at create, and now */
    uint64_t mismatches;                      /* chunks that a rewrite left equal, or a rollback different */
} rt_rollback_result;
void rt_rollback_result_read(const rt_rollback *self, rt_rollback_result *out);

/* How long taking a snapshot and rolling back took, one record a cycle. Only while no cycle runs. */
const rt_histogram *rt_rollback_snapshot_times(const rt_rollback *self);
const rt_histogram *rt_rollback_rollback_times(const rt_rollback *self);

/* Writes the object `rollback` of the record. */
void rt_rollback_write(const rt_rollback *self, rt_json *json, const char *key);

uint64_t rt_rollback_bytes(const rt_rollback *self); /* without the context */

void rt_rollback_destroy(
    rt_rollback *self); /* NULL is allowed; asks a running mutator to stop and waits for it */

#endif
