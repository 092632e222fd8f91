/* What the executors of this benchmark share: the workload, and the task body that all of them run.
 *
 * Every executor runs the same body over the same task numbers, so that all of them must arrive at the same
 * checksum. Plain C types only: the peers are C++. */
#ifndef BENCH_H
#define BENCH_H

#include "measure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_kind {
    BENCH_PROBES,     /* role lookup, prompt by copy, reads of a shared context, an output */
    BENCH_NULL,       /* nothing */
    BENCH_SNPRINTF,   /* probes after a prompt by snprintf */
    BENCH_PRIORITIES, /* probes, task i at priority i mod 4 */
    BENCH_YIELD       /* probes after one cooperative yield */
} bench_kind;

typedef struct bench_options {
    uint64_t tasks;
    uint32_t agents;
    uint32_t workers;
    uint32_t probes;
    uint32_t window;     /* closed loop */
    uint64_t rate_per_s; /* open loop */
    uint32_t output_bytes;
    uint64_t context_bytes;
    bench_kind kind;
} bench_options;

/* Returns 0, or 1 after printing what went wrong. */
typedef int (*bench_executor)(const bench_options *options, measure_outcome *outcome);

int bench_plain_one(const bench_options *options, measure_outcome *outcome);
int bench_plain_all(const bench_options *options, measure_outcome *outcome);
int bench_tallymark(const bench_options *options, measure_outcome *outcome);
int bench_direct(const bench_options *options, measure_outcome *outcome);
int bench_backlog(const bench_options *options, measure_outcome *outcome);
int bench_core_distance(const bench_options *options, measure_outcome *outcome);
int bench_onetbb(const bench_options *options, measure_outcome *outcome);
int bench_onetbb_backlog(const bench_options *options, measure_outcome *outcome);
/* Not linked where Taskflow is not at hand. */
__attribute__((weak)) int bench_taskflow(const bench_options *options, measure_outcome *outcome);
__attribute__((weak)) int bench_taskflow_backlog(const bench_options *options, measure_outcome *outcome);

/* ---- the task body, as the runtime itself runs it ---- */

typedef struct bench_body bench_body;

/* `threads`: how many may run tasks at the same time. Ends the program when there is no memory. */
bench_body *bench_body_create(const bench_options *options, uint32_t threads);
void bench_body_destroy(bench_body *self);
/* Runs one task on thread `thread`, with the start noted in that thread's histogram of queue times. */
void bench_body_run(bench_body *self, uint64_t task_id, uint32_t thread, uint64_t submitted_ns);
/* The same with the end read as well and the execution time noted: what the plain loop does. */
void bench_body_run_timed(bench_body *self, uint64_t task_id, uint32_t thread);
/* The work alone, counted; the start and the histogram are somebody else's. */
void bench_body_work(bench_body *self, uint64_t task_id, uint32_t thread);
/* Tasks done so far, by all threads; may be read at any time. */
uint64_t bench_body_done(const bench_body *self);
/* Empties the histograms, after a warm-up. Only while nothing runs. */
void bench_body_forget_times(bench_body *self);
/* Checksum, count and queue percentiles; when nothing runs any more. */
void bench_body_report(const bench_body *self, measure_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
