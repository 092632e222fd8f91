/* The workload "lookup": what the index of the registered roles costs to build, to ask, and to change.
 *
 * Steps: build (roles added in the order of their numbers), lookup (names that are there and names that are not, in
 * batches by turns), removal (half of the roles, drawn at random), lookup_after_removal (names that stayed, names that
 * went), adding (the removed ones again). A role is a name without a text. The task of this experiment is one
 * lookup of the step `lookup`. Names are written outside of the timed intervals. Order of calls: see
 * rt_experiment.h. */
#ifndef RT_LOOKUP_EXPERIMENT_H
#define RT_LOOKUP_EXPERIMENT_H

#include "rt_agent_pool.h"
#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_experiment.h"
#include "rt_histogram.h"
#include "rt_json.h"
#include "rt_status.h"

#include <stdbool.h>
#include <stdint.h>

/* A lookup takes about as long as reading the clock, so this many stand between two readings, and a histogram
 * holds one value a reading: their mean. They do not depend on each other, so the machine may overlap them. */
#define RT_LOOKUP_BATCH 16u

#define RT_LOOKUP_MAX_TASKS (UINT64_C(1) << 40)

typedef struct rt_lookup_experiment_options {
    rt_allocator *allocator; /* outlives the experiment */
    const rt_clock *clock;   /* outlives the experiment */
    uint64_t seed;           /* of the names asked for and the order of removal */
    uint64_t tasks;          /* lookups of the step `lookup`, 1 .. RT_LOOKUP_MAX_TASKS; half are of absent names */
    uint32_t agents;         /* roles, 1 .. RT_AGENT_POOL_MAX_ROLES */
} rt_lookup_experiment_options;

typedef struct rt_lookup_experiment rt_lookup_experiment;

/* RT_INVALID, RT_NO_MEMORY: nothing is kept, *out is NULL. The index is not built yet. */
rt_status rt_lookup_experiment_create(const rt_lookup_experiment_options *options, rt_lookup_experiment **out,
                                      rt_message *why);

/* Does the steps in their order. Once; blocks its thread. RT_STOPPED: a stop was asked for. RT_NO_MEMORY: a role
 * could not be added. In both cases progress keeps the step. RT_BUSY: not in setup. */
rt_status rt_lookup_experiment_execute(rt_lookup_experiment *self, rt_message *why);

/* Async-signal-safe; execute ends after the batch in hand. */
void rt_lookup_experiment_request_stop(rt_lookup_experiment *self);

void rt_lookup_experiment_progress(const rt_lookup_experiment *self, rt_experiment_progress *out);

/* Compares every count with its formula and looks each role up once more. After execute, whatever its status.
 * RT_BUSY: not executed. RT_FAILED: a count differs (`why` names the first), or a step is missing. */
rt_status rt_lookup_experiment_verify(rt_lookup_experiment *self, rt_message *why);

/* Answers of the index: a name that is there was found, one that is not was not; wrong is everything else. */
typedef struct rt_lookup_answers {
    uint64_t found, not_found, wrong;
} rt_lookup_answers;

/* Named as in the object `lookup` of the run record. */
typedef struct rt_lookup_experiment_result {
    int64_t started_at_s;             /* wall time, seconds since 1970 UTC */
    uint64_t started_ns, finished_ns; /* of the clock */
    uint64_t roles, removed;
    uint64_t clock_read_ns; /* what one reading of the clock takes, median of 101 */
    uint64_t build_ns, remove_ns, add_again_ns;
    rt_agent_pool_shape built, after_removal;
    rt_lookup_answers lookups, lookups_after_removal;
    bool completed; /* every step was done */
    bool passed;    /* verify found everything equal */
} rt_lookup_experiment_result;

/* RT_BUSY: not executed. *out is unchanged. */
rt_status rt_lookup_experiment_result_read(const rt_lookup_experiment *self,
                                           rt_lookup_experiment_result *out);

/* One value for RT_LOOKUP_BATCH lookups; owned by the experiment. After execute. */
typedef enum rt_lookup_times {
    RT_LOOKUP_HIT,
    RT_LOOKUP_MISS,
    RT_LOOKUP_HIT_AFTER_REMOVAL,
    RT_LOOKUP_MISS_AFTER_REMOVAL,
    RT_LOOKUP_TIMES
} rt_lookup_times;
const char *rt_lookup_times_name(rt_lookup_times which); /* "lookup_hit", "lookup_miss", … as in the record */
const rt_histogram *rt_lookup_experiment_histogram(const rt_lookup_experiment *self, rt_lookup_times which);

/* Writes the object `lookup` of the record; values of steps that were never reached are null. After execute. */
void rt_lookup_experiment_write(const rt_lookup_experiment *self, rt_json *json, const char *key);

void rt_lookup_experiment_destroy(rt_lookup_experiment *self); /* NULL is allowed; not while execute runs */

#endif
