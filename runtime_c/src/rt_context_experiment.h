/* The workload "context": one pass of a large context through all that the store can do with it.
 *
 * Steps: load (a stream from the formula, never a second copy), overview, snapshot, rewrite (a share of the chunks,
 * the snapshot alive), rollback, serialise (a stream into SHA-256), spill (to an unlinked temporary file), restore.
 * The task of this experiment is the whole pass, so a run has exactly 1. Order of calls: see rt_experiment.h. */
#ifndef RT_CONTEXT_EXPERIMENT_H
#define RT_CONTEXT_EXPERIMENT_H

#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_digest.h"
#include "rt_experiment.h"
#include "rt_json.h"
#include "rt_status.h"

#include <stdbool.h>
#include <stdint.h>

#define RT_CONTEXT_EXPERIMENT_TASKS 1u

typedef struct rt_context_experiment_options {
    rt_allocator *allocator; /* outlives the experiment */
    const rt_clock *clock;   /* outlives the experiment */
    const char *directory;   /* of the temporary file; NULL: $TMPDIR, or /tmp */
    uint64_t seed;           /* of the content */
    uint64_t context_bytes;
    uint32_t rewrite_permille; /* share of the chunks rewritten while the snapshot lives; 0 .. 1000 */
    uint32_t overview_bytes;   /* bound of the WARM overview, 1 .. RT_CONTEXT_OVERVIEW_MAX_BYTES */
} rt_context_experiment_options;

typedef struct rt_context_experiment rt_context_experiment;

/* RT_INVALID, RT_NO_MEMORY: nothing is kept, *out is NULL. The content is not allocated yet. */
rt_status rt_context_experiment_create(const rt_context_experiment_options *options,
                                       rt_context_experiment **out, rt_message *why);

/* Does the steps in their order. Once; blocks its thread. RT_STOPPED: a stop was asked for. RT_NO_MEMORY, RT_IO (no
 * room on the disk, the file is damaged): `why` says what and where, progress keeps the step. RT_BUSY: not in setup. */
rt_status rt_context_experiment_execute(rt_context_experiment *self, rt_message *why);

/* Async-signal-safe; execute ends after the chunk in hand. */
void rt_context_experiment_request_stop(rt_context_experiment *self);

void rt_context_experiment_progress(const rt_context_experiment *self, rt_experiment_progress *out);

/* Recomputes the content's checksum from the formula and compares. After execute, whatever its status.
 * RT_BUSY: not executed. RT_FAILED: a checksum differs (`why` names the first), or a step is missing. */
rt_status rt_context_experiment_verify(rt_context_experiment *self, rt_message *why);

/* Named as in the object `context` of the run record. */
typedef struct rt_context_experiment_result {
    int64_t started_at_s;             /* wall time, seconds since 1970 UTC */
    uint64_t started_ns, finished_ns; /* of the clock */
    uint64_t canonical_bytes, chunks;
    uint64_t chunks_rewritten;
    uint64_t chunks_shared;  /* held by head and snapshot together after the rewriting */
    uint64_t overview_bytes; /* of the overview made, at most the option */
    uint64_t load_ns, overview_ns, snapshot_ns, rewrite_ns, rollback_ns, serialise_ns, spill_ns, restore_ns;
    uint64_t rss_anon_before_bytes;        /* RssAnon before the load: the baseline of this process */
    uint64_t rss_anon_with_snapshot_bytes; /* RssAnon with the snapshot alive and its share rewritten */
    uint64_t peak_rss_bytes;               /* VmHWM of the whole process at the end of execute */
    uint64_t checksum, checksum_expected;  /* as loaded; by formula (0 before verify) */
    uint64_t checksum_rewritten;           /* of the head before the rollback */
    uint64_t checksum_after_rollback, checksum_restored;
    char serialised_sha256[RT_DIGEST_HEX_BYTES];
    bool completed; /* every step was done */
    bool passed;    /* verify found everything equal */
} rt_context_experiment_result;

/* RT_BUSY: not executed. *out is unchanged. */
rt_status rt_context_experiment_result_read(const rt_context_experiment *self,
                                            rt_context_experiment_result *out);

/* Bytes that the store holds now. */
uint64_t rt_context_experiment_bytes(const rt_context_experiment *self);

/* Writes the object `context` of the record after execute; nothing at all when a step is missing: what is null there is
 * only what the kernel did not tell. */
void rt_context_experiment_write(const rt_context_experiment *self, rt_json *json, const char *key);

void rt_context_experiment_destroy(rt_context_experiment *self); /* NULL is allowed; not while execute runs */

#endif
