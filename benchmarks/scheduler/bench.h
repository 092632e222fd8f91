/* What the executors of this benchmark share: the workload, and what each of them reports.
 *
 * Every executor runs the same task body over the same task numbers, so that all of them must arrive at the
 * same checksum. Plain C types only: the oneTBB peer is C++. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_options {
    uint64_t tasks;
    uint32_t agents;
    uint32_t workers;
    uint32_t probes;
    uint32_t window;
    uint32_t output_bytes;
    uint64_t context_bytes;
    int null_runner; /* the task body is empty */
} bench_options;

typedef struct bench_outcome {
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* user and system time of all threads in the measured window */
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t probe_checksum;
    uint64_t tasks_done;
    uint64_t queue_p50_ns; /* submitted to runner start; 0 for the plain loop */
    uint64_t queue_p99_ns;
    uint64_t backlog_bytes; /* growth of RssAnon with all tasks queued; backlog executors only */
    uint64_t drained_bytes; /* the same when all of them are done */
    uint64_t round_trip_ns; /* of a cache line between two cores; core-distance only */
} bench_outcome;

/* An executor returns 0, or 1 after printing what went wrong. */
typedef int (*bench_executor)(const bench_options *options, bench_outcome *outcome);

int bench_plain_one(const bench_options *options, bench_outcome *outcome);
int bench_plain_all(const bench_options *options, bench_outcome *outcome);
int bench_tallymark(const bench_options *options, bench_outcome *outcome);
int bench_tallymark_backlog(const bench_options *options, bench_outcome *outcome);
int bench_core_distance(const bench_options *options, bench_outcome *outcome);
int bench_onetbb(const bench_options *options, bench_outcome *outcome);
int bench_onetbb_backlog(const bench_options *options, bench_outcome *outcome);

/* ---- measuring ---- */

typedef struct bench_usage {
    uint64_t now_ns, cpu_ns, voluntary, involuntary;
} bench_usage;

uint64_t bench_now_ns(void);
bench_usage bench_usage_read(void);
/* Fills the first four fields of the outcome with what was used since `before`. */
void bench_usage_since(const bench_usage *before, bench_outcome *outcome);
uint64_t bench_rss_anon_bytes(void);

/* ---- the task body, as the runtime itself runs it ---- */

typedef struct bench_body bench_body;

/* `threads`: how many may run tasks at the same time. NULL after printing what went wrong. */
bench_body *bench_body_create(const bench_options *options, uint32_t threads);
void bench_body_destroy(bench_body *self);
/* Runs one task on thread `thread`, with the start noted in that thread's histogram of queue times. */
void bench_body_run(bench_body *self, uint64_t task_id, uint32_t thread, uint64_t submitted_ns);
/* The same with the end read as well and the execution time noted: what the plain loop does. */
void bench_body_run_timed(bench_body *self, uint64_t task_id, uint32_t thread);
/* Tasks done so far, by all threads; may be read at any time. */
uint64_t bench_body_done(const bench_body *self);
/* Checksum, count and queue percentiles; when nothing runs any more. */
void bench_body_report(const bench_body *self, bench_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
