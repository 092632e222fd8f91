/* The public face of the runtime: one run, from its options to its record in JSON.
 *
 *     rt_run_options options;
 *     rt_run *run;
 *     char message[RT_RUN_MESSAGE_BYTES];
 *     rt_run_options_init(&options);
 *     options.tasks = 1000;
 *     if (rt_run_create(&options, &run, message, sizeof message) != 0) { ... }
 *     rt_run_execute(run, message, sizeof message);
 *     puts(rt_run_record(run));
 *     rt_run_destroy(run);
 *
 * The declarations between the two marks are also what cffi compiles: they must stay free of macros. A status is 0
 * for success; rt_run_status_name() gives the word for any other. */
#ifndef TALLYMARK_RUNTIME_H
#define TALLYMARK_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define RT_RUN_MESSAGE_BYTES 256

/* cffi:begin */
typedef struct rt_run rt_run;

/* Every configuration key of a run record, under its own name, and which run of its suite this is. Numbers are
 * as wide as possible so that the library can refuse what does not fit instead of cutting it. */
typedef struct rt_run_options {
    const char *suite;
    const char *benchmark_version; /* "1": refused when the runtime does other work than the caller expects */
    const char *run_id;            /* 16 lower-case hexadecimal digits; NULL: drawn at random */
    uint64_t index;
    uint64_t repetition; /* from 1 */
    uint64_t agents;
    uint64_t tasks;
    uint64_t workers;
    uint64_t aux_workers;
    uint64_t probes;
    uint64_t context_bytes;
    const char *access_pattern;
    uint64_t queue_limit;
    uint64_t max_active;
    uint64_t history_limit_tasks;
    uint64_t history_limit_bytes;
    uint64_t output_bytes;
    const char *submission;
    uint64_t window;
    uint64_t rate_per_s;
    const char *task_stack;
    uint64_t sampler_interval_ms;
    const char *workload;   /* "tasks", "context" or "lookup": what the run does */
    uint64_t workload_seed; /* of content, ids, arrivals and faults */
    const char *variant;    /* side of a comparison of two builds; "none" otherwise */
    uint64_t priorities;    /* task i has level i mod priorities */
    uint64_t batches;       /* equal batches, each drained before the next */
    uint64_t yields;        /* cooperative yields in each task */
    uint64_t stack_bytes;   /* of a pooled stack; 0 for inline */
    uint64_t max_suspended; /* one more blocks its worker instead; 0: no limit */
    const char *wait_mode;  /* "none", "blocking" or "yielding": how a task awaits its provider */
    uint64_t wait_us;       /* mean of the provider's answer time */
    const char *wait_distribution;
    uint64_t timeout_us; /* of each task, from its (intended) submission; 0: none */
    uint64_t fail_permille;
    uint64_t slow_permille;
    uint64_t cancel_permille;
    uint64_t slow_us;            /* further wait of a slow task */
    const char *fault_ramp;      /* "linear": the shares rise from 0 at the first task to full at the last */
    uint64_t memory_limit_bytes; /* address space beyond what the process has at set-up; 0: no limit */
    uint64_t kill_after_tasks;   /* the process kills itself once so many tasks have ended; 0: never */
    uint64_t outage_start_ms;    /* the provider of tenant 0 fails from here ... */
    uint64_t outage_ms;          /* ... for so long */
    const char *retry_policy;
    uint64_t retry_attempts;
    uint64_t retry_delay_us;
    uint64_t tenants;   /* task i belongs to tenant i mod tenants */
    uint64_t steady_ms; /* open loop: phases steady, pause, burst, again and again; 0: no phases */
    uint64_t pause_ms;
    uint64_t burst_ms;
    uint64_t burst_factor;
    const char *snapshot; /* "at_rest" or "running": when the shared context is rolled back */
    uint64_t rollbacks;
    uint64_t rewrite_permille; /* share of the chunks that each cycle rewrites */
    uint64_t overview_bytes;   /* bound of the overview of a warm context */
} rt_run_options;

/* A consistent view of a run in progress. */
typedef struct rt_run_progress {
    const char *phase; /* "setup", "submit", "drain" or "finished" */
    uint64_t tasks_submitted;
    uint64_t tasks_admitted;
    uint64_t tasks_completed;
    uint64_t tasks_failed;
    uint64_t tasks_cancelled;
    uint64_t tasks_timed_out;
    uint64_t tasks_rejected;
    uint64_t queue;
    uint64_t active;
    double elapsed_ms;
} rt_run_progress;

/* The defaults of the suite `scale`. The strings are constants of the library. */
void rt_run_options_init(rt_run_options *options);

/* Checks the options, reads the machine, builds the context and starts the workers; the options may be freed
 * afterwards. On failure *out is NULL, nothing is left running and `message` holds one sentence (cut to its size)
 * that says what is wrong and what to do: "invalid" for an option out of its range, "no_memory", "no_thread". */
int rt_run_create(const rt_run_options *options, rt_run **out, char *message, size_t message_bytes);

/* Runs, verifies and writes the record; blocks. Once. 0 means that there is a record, whatever its outcome:
 * a failed or interrupted run is evidence too. Otherwise `message` says why there is none. */
int rt_run_execute(rt_run *self, char *message, size_t message_bytes);

/* Ends a run early: tasks that have not started are cancelled, those that wait are asked to end, and the record
 * says "killed" and the signal; for SIGALRM, which stands for a deadline, "timed_out".
 * May be called from a signal handler or another thread, before or during rt_run_execute. */
void rt_run_interrupt(rt_run *self, int signal_number);

/* Any thread, any time between create and destroy. */
void rt_run_progress_read(rt_run *self, rt_run_progress *out);

/* One line of JSON each, valid until destroy. The record is NULL before rt_run_execute succeeded. */
const char *rt_run_record(const rt_run *self);
const char *rt_run_manifest(const rt_run *self);

/* "completed", "failed", "overloaded", "timed_out" or "killed", as in the record; NULL before rt_run_execute
 * succeeded. */
const char *rt_run_outcome(const rt_run *self);

/* NULL is allowed. Not while rt_run_execute runs. */
void rt_run_destroy(rt_run *self);

/* Writes the `build` member of a manifest of this library as one line of JSON: the digest of its sources, compiler
 * and flags. It needs no run and does not change. "too_small": `text` holds an empty string. */
int rt_run_build(char *text, size_t text_bytes);

/* "ok", "invalid", "no_memory", ... */
const char *rt_run_status_name(int status);
/* cffi:end */

#endif
