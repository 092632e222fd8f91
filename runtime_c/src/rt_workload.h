/* One run: roles, context, scheduler and submitter, then the proof that every task was done once.
 *
 * One task looks its role up by name, assembles its prompt in the worker's buffer, reads `probes` bytes of
 * the shared context and writes an output of output_bytes. Order of calls:
 *   create -> execute -> verify -> result -> destroy, with progress and request_stop from other threads.
 * Only `execute` belongs to the measured window. */
#ifndef RT_WORKLOAD_H
#define RT_WORKLOAD_H

#include "rt_access_pattern.h"
#include "rt_allocator.h"
#include "rt_arrivals.h"
#include "rt_backlog.h"
#include "rt_clock.h"
#include "rt_course.h"
#include "rt_faults.h"
#include "rt_histogram.h"
#include "rt_memory_account.h"
#include "rt_provider.h"
#include "rt_rollback.h"
#include "rt_scheduler.h"
#include "rt_status.h"
#include "rt_tenants.h"

#include <stdbool.h>
#include <stdint.h>

#define RT_WORKLOAD_CONTENTION_SAMPLE_EVERY 64u /* of the lock's acquisitions at each place, so many are one timed */

typedef enum rt_submission {
    RT_SUBMISSION_CLOSED, /* at most `window` tasks in flight, refilled when half of them are done */
    RT_SUBMISSION_PACED,  /* open loop: task i is due at start + i / rate_per_s; latency counts from then */
    RT_SUBMISSION_POISSON, /* open loop: the gaps are exponential with mean 1 / rate_per_s */
    RT_SUBMISSION_HELD     /* the workers are held until all tasks are queued */
} rt_submission;
const char *rt_submission_name(rt_submission submission); /* "closed", "paced", "poisson", "held" */
static inline bool rt_submission_is_open(rt_submission submission) {
    return submission == RT_SUBMISSION_PACED || submission == RT_SUBMISSION_POISSON;
}

typedef enum rt_snapshot {
    RT_SNAPSHOT_NONE,
    RT_SNAPSHOT_AT_REST, /* the context is rewritten and rolled back before the first submission */
    RT_SNAPSHOT_RUNNING  /* the same while tasks run, which read a snapshot that they hold */
} rt_snapshot;

typedef enum rt_runner {
    RT_RUNNER_PROBES, /* the task body above */
    RT_RUNNER_NULL    /* an empty body: what the scheduler alone costs */
} rt_runner;

/* Named as in the run record. */
typedef struct rt_workload_options {
    uint64_t seed;
    uint64_t tasks;       /* 1 .. 2^40 */
    uint32_t agents;      /* registered roles, 1 .. 1,000,000 */
    uint32_t workers;     /* 1 .. 1024 */
    uint32_t aux_workers; /* 0 .. 1024: idle runtime workers beside the measured ones */
    uint32_t probes;      /* reads of the context a task */
    uint64_t context_bytes;
    uint64_t queue_limit;
    uint32_t max_active;
    uint64_t history_limit_tasks;
    uint64_t history_limit_bytes;
    uint32_t output_bytes; /* 0 .. 16 MiB */
    rt_submission submission;
    uint32_t window;     /* closed: >= 1; else 0 */
    uint64_t rate_per_s; /* open loop: 1 .. 10^9; else 0 */
    rt_runner runner;
    rt_access_pattern access_pattern;
    uint32_t priorities;    /* 1 .. 256: task i has level i mod priorities */
    uint32_t batches;       /* closed: equal batches, each drained before the next; tasks is a multiple */
    uint32_t yields;        /* cooperative yields at the start of each task */
    uint32_t stack_bytes;   /* of pooled stacks; 0: tasks run on their worker's own */
    uint32_t max_suspended; /* of pooled stacks; 0: no limit */
    rt_wait_mode wait_mode;
    uint64_t wait_us;
    bool wait_exponential; /* else constant */
    uint64_t timeout_us;   /* of each task from its (intended) submission; 0: none */
    uint32_t fail_permille, slow_permille, cancel_permille;
    uint64_t slow_us;
    bool fault_ramp;
    uint64_t kill_after_tasks; /* SIGKILL for the process once so many tasks are finalised; 0: never */
    uint64_t outage_start_ms, outage_ms;
    rt_retry_policy retry_policy;
    uint32_t retry_attempts;
    uint64_t retry_delay_us;
    uint32_t tenants;                         /* 1 .. RT_PROVIDER_MAX_TENANTS */
    uint64_t steady_ms, pause_ms, burst_ms; /* open loop: see rt_arrivals; 0 steady: no phases */
    uint32_t burst_factor;
    rt_snapshot snapshot;
    uint32_t rollbacks; /* cycles of snapshot, rewrite and rollback */
    uint32_t rewrite_permille;
    const rt_clock *clock;        /* NULL: the machine's; outlives the workload */
    rt_thread_start start_thread; /* NULL: pthread_create */
    uint64_t fail_allocation_at;  /* for tests: see rt_allocator; 0: never */
} rt_workload_options;

/* The defaults of the suite `scale`: 100 roles, 100,000 tasks, 8 workers, 8 auxiliary workers, 64 probes, 8
 * MiB of context, queue limit 2^20, max_active = 1024, history of 64 tasks and 1 MiB, 64 B output, closed
 * loop with window 1024, seed 1. */
void rt_workload_options_init(rt_workload_options *options);

typedef enum rt_phase {
    RT_PHASE_SETUP,    /* created, not yet executing */
    RT_PHASE_SUBMIT,   /* submitting */
    RT_PHASE_DRAIN,    /* everything is submitted, or a stop was asked for; waiting for the rest */
    RT_PHASE_FINISHED, /* drained */
    RT_PHASE_VERIFIED  /* the checks below are filled in */
} rt_phase;
const char *rt_phase_name(rt_phase phase); /* "setup", "submit", "drain", "finished", "verified" */

typedef struct rt_workload rt_workload;

/* Fills the context, registers the roles, starts the workers. RT_INVALID, RT_NO_MEMORY, RT_NO_THREAD: `why`
 * says what and what to do; nothing is kept, no thread runs, *out is NULL. */
rt_status rt_workload_create(const rt_workload_options *options, rt_workload **out, rt_message *why);

/* Submits all tasks and waits until they are finalised. Once; blocks its thread.
 * RT_OK: drained. RT_STOPPED: a stop was asked for; what had not started was cancelled, the result
 * conserves all counts. RT_BUSY: not in setup. RT_FORKED. */
rt_status rt_workload_execute(rt_workload *self, rt_message *why);

/* Asks a running execute to end soon; tasks not started are cancelled. Async-signal-safe; may be called
 * before execute (which then submits nothing) and more than once. */
void rt_workload_request_stop(rt_workload *self);

/* What a sampler or a progress bar reads; any thread, any time between create and destroy. */
typedef struct rt_workload_progress {
    rt_phase phase;
    uint64_t tasks; /* to submit in all */
    uint64_t tasks_submitted, tasks_admitted, tasks_completed, tasks_failed, tasks_cancelled, tasks_timed_out;
    uint64_t tasks_rejected;
    uint64_t queue, queue_peak;
    uint32_t active;
    uint64_t elapsed_ns; /* since the start of execute; 0 before, final once finished */
    double in_flight_s;  /* see rt_scheduler_counts */
    uint64_t in_flight_at_ns;
} rt_workload_progress;
void rt_workload_progress_read(rt_workload *self, rt_workload_progress *out);

/* The same for the sampler, whose looks also become the rows of the backlog in open loop. One thread. */
void rt_workload_observe(rt_workload *self, rt_workload_progress *out);

/* Recomputes from formulas what the run must have read and counted, and compares. After execute; outside the
 * measured window; takes about as long as the probes themselves. RT_BUSY: not finished.
 * RT_FAILED: a check differs (`why` names the first); the result holds both sides. */
rt_status rt_workload_verify(rt_workload *self, rt_message *why);

/* Latency histograms, merged over the workers. */
typedef enum rt_stage {
    RT_STAGE_QUEUE,
    RT_STAGE_EXECUTION,
    RT_STAGE_FINALISATION,
    RT_STAGE_END_TO_END,
    RT_STAGE_ROLE_LOOKUP,     /* sampled */
    RT_STAGE_PROMPT,          /* sampled */
    RT_STAGE_CALLBACK,        /* sampled */
    RT_STAGE_HISTORY_PRUNING, /* sampled */
    RT_STAGES
} rt_stage;
const char *rt_stage_name(rt_stage stage);      /* the key in the run record, e.g. "end_to_end" */
uint32_t rt_stage_sample_every(rt_stage stage); /* 1, or RT_SCHEDULER_SAMPLE_EVERY */

/* Memory after each batch was drained. */
typedef struct rt_workload_batch {
    uint64_t batch; /* from 1 */
    uint64_t tasks_done, t_ns;
    uint64_t rss_bytes, rss_anon_bytes; /* 0: could not be read */
    uint64_t allocated_bytes;           /* by the runtime's allocator since its creation */
} rt_workload_batch;

/* Of held submission, just before the release. */
typedef struct rt_workload_held {
    bool seen; /* false: the submission broke off before */
    uint64_t queue;
    bool has_bytes;         /* false: RssAnon could not be read, or nothing was queued */
    double bytes_per_task;  /* growth of RssAnon since before the first submission, by the queue */
} rt_workload_held;

/* What was injected, and what became of it. */
typedef struct rt_workload_faults {
    bool any; /* something in the options disturbs tasks; else all of this is 0 */
    uint64_t failed_chosen, slow_chosen;
    uint64_t cancels_asked;
    uint64_t failed_unplanned; /* neither chosen to fail nor given up by the provider's policy */
    rt_provider_counts provider;
    bool has_outage; /* with outage_ms */
    rt_backlog_outage outage;
} rt_workload_faults;

/* What an open loop says of its queue; each with the reason why it is not there. */
typedef struct rt_workload_stability {
    const char *growth_missing, *little_missing; /* NULL: there */
    rt_backlog_growth growth;
    rt_backlog_little little;
} rt_workload_stability;

typedef struct rt_workload_checks {
    uint64_t context_checksum, context_checksum_expected;
    uint64_t probe_checksum, probe_checksum_expected;
    uint64_t tasks_seen_once, tasks_seen_never, tasks_seen_twice; /* of `tasks`; twice: more than once */
    uint64_t prompt_bytes_expected, role_lookups_expected, probes_expected, output_bytes_expected;
    uint64_t lookups_failed;
    uint64_t ended_cancelled; /* of those seen once: as cancelled, not taken back by a stop */
    bool passed; /* everything above agrees and the counts conserve; never-seen tasks only after a stop or
                    rejection */
} rt_workload_checks;

/* Named as in the run record where it has the value. */
typedef struct rt_workload_result {
    rt_phase phase;                   /* where the run ended: RT_PHASE_FINISHED, or where a stop met it */
    bool stopped;                     /* a stop was asked for and tasks were left out because of it */
    uint64_t started_ns, finished_ns; /* of the clock: before the first submission, after the last release */
    int64_t started_at_s;             /* wall time, seconds since 1970 UTC */
    uint64_t elapsed_ns;
    bool has_rate;           /* false when elapsed_ns is 0: there is no rate then, not an infinite one */
    double tasks_per_second; /* completed tasks by elapsed time */
    uint64_t tasks_submitted, tasks_admitted, tasks_completed, tasks_failed, tasks_cancelled, tasks_timed_out,
        tasks_rejected;
    uint64_t active_at_end, queue_at_end, queue_peak, active_peak;
    uint64_t retained_tasks, retained_bytes;
    uint64_t role_lookups, prompt_bytes, probes_done, output_bytes_written;
    uint64_t clamped_intervals;
    uint64_t dequeues, wakeups;
    double mean_batch;          /* tasks a dequeue; 0 without any */
    uint64_t aux_workers_alive; /* auxiliary workers that are asleep at the end */
    uint64_t yields_done, suspensions, suspended_peak;
    uint64_t submit_ns; /* from the first submission to the return of the last */
    uint64_t drain_ns;  /* from the last submission (held: the release) to the last finalisation */
    bool has_slots;     /* false: suspended tasks have no limit */
    uint64_t slots;
    const rt_histogram *lateness;      /* open loop: of the submitter at each task; else NULL */
    const rt_histogram *provider_wait; /* of each call; NULL without a provider */
    const rt_course *course;           /* open loop, else NULL */
    const rt_tenants *tenants;         /* with faults, else NULL */
    const rt_rollback *rollback;       /* with a snapshot, else NULL */
    const rt_workload_batch *batches;  /* with more than one batch, else NULL */
    uint32_t batch_count;
    bool is_held;
    rt_workload_held held;
    rt_workload_faults faults;
    rt_workload_stability stability; /* open loop only */
    rt_scheduler_contention_report contention;
    uint64_t worker_cpu_ns, auxiliary_cpu_ns; /* since the start of execute */
    rt_workload_checks checks;                 /* all 0 and not passed before rt_workload_verify */
    const rt_histogram *histograms[RT_STAGES]; /* owned by the workload, valid until destroy */
} rt_workload_result;

/* Adds all memory of the run, by owner, as it is now. While execute does not run; milliseconds for a large
 * context. */
void rt_workload_account(rt_workload *self, rt_memory_account *account);

/* RT_BUSY: not finished. RT_NO_MEMORY: no room to merge the histograms. *out is unchanged. */
rt_status rt_workload_result_read(rt_workload *self, rt_workload_result *out);

/* Ends all threads and frees everything. NULL is allowed. Not while execute runs. */
void rt_workload_destroy(rt_workload *self);

#endif
