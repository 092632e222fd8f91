/* The runtime's own scheduler: the whole run as a suite measures it, and a backlog of all tasks at once. */
#include "bench.h"

#include "rt_task_pool.h"
#include "rt_workload.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static rt_workload_options options_of(const bench_options *options) {
    rt_workload_options workload;
    rt_workload_options_init(&workload);
    workload.tasks = options->tasks;
    workload.agents = options->agents;
    workload.workers = options->workers;
    workload.probes = options->probes;
    workload.window = options->window;
    workload.output_bytes = options->output_bytes;
    workload.context_bytes = options->context_bytes;
    workload.runner = options->null_runner ? RT_RUNNER_NULL : RT_RUNNER_PROBES;
    return workload;
}

int bench_tallymark(const bench_options *options, bench_outcome *outcome) {
    const rt_workload_options workload_options = options_of(options);
    rt_workload *workload;
    rt_workload_result result;
    rt_message why = {""};
    if (rt_workload_create(&workload_options, &workload, &why) != RT_OK) {
        return failed(why.text);
    }
    const bench_usage before = bench_usage_read();
    const rt_status status = rt_workload_execute(workload, &why);
    bench_usage_since(&before, outcome);
    if (status != RT_OK || rt_workload_verify(workload, &why) != RT_OK ||
        rt_workload_result_read(workload, &result) != RT_OK) {
        return failed(why.text);
    }
    outcome->probe_checksum = result.checks.probe_checksum;
    outcome->tasks_done = result.checks.tasks_seen_once;
    outcome->queue_p50_ns = rt_histogram_percentile_ns(result.histograms[RT_STAGE_QUEUE], 1, 2);
    outcome->queue_p99_ns = rt_histogram_percentile_ns(result.histograms[RT_STAGE_QUEUE], 99, 100);
    rt_workload_destroy(workload);
    return 0;
}

/* ---- backlog ---- */

typedef struct backlog {
    rt_allocator allocator;
    bench_body *body;
    rt_task_pool *pool;
    rt_scheduler *scheduler;
    uint8_t *seen;
} backlog;

static rt_status run_task(void *context, rt_task_run *run) {
    bench_body_run(((backlog *)context)->body, run->task_id, run->worker, 0);
    return RT_OK;
}

static void mark_seen(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    (void)finalised_ns;
    (void)worker;
    ((backlog *)context)->seen[task->id] = 1;
}

static void recycle(void *context, rt_task *const *tasks, size_t count) {
    rt_task_pool_give(((backlog *)context)->pool, tasks, count);
}

static void submit_all(backlog *self, uint64_t count) {
    rt_task *tasks[32];
    for (uint64_t id = 0; id < count; id += 32) {
        const size_t wanted = count - id < 32 ? (size_t)(count - id) : 32;
        const size_t taken = rt_task_pool_take(self->pool, tasks, wanted);
        const uint64_t now_ns = bench_now_ns();
        for (size_t i = 0; i < taken; i++) {
            *tasks[i] = (rt_task){.id = id + i, .submitted_ns = now_ns};
        }
        rt_scheduler_submit_many(self->scheduler, tasks, taken, NULL);
    }
}

/* Everything that a task needs is counted: its object, its place in the list of free ones, its verification.
 */
int bench_tallymark_backlog(const bench_options *options, bench_outcome *outcome) {
    static backlog self;
    rt_message why = {"no memory"};
    rt_allocator_init(&self.allocator, 0);
    self.body = bench_body_create(options, options->workers);
    const rt_scheduler_options scheduler = {.allocator = &self.allocator,
                                            .hooks = {&self, run_task, mark_seen, recycle},
                                            .workers = options->workers,
                                            .max_active = options->workers,
                                            .queue_limit = options->tasks,
                                            .history_limit_tasks = 64,
                                            .history_limit_bytes = 1u << 20,
                                            .output_capacity_bytes = options->output_bytes};
    if (rt_scheduler_create(&scheduler, &self.scheduler, &why) != RT_OK ||
        rt_task_pool_create(&self.allocator, options->tasks, &self.pool) != RT_OK) {
        return failed(why.text);
    }
    rt_scheduler_wait_idle(self.scheduler, RT_SCHEDULER_FOREVER);
    rt_scheduler_hold(self.scheduler);
    const bench_usage before = bench_usage_read();
    const uint64_t start_bytes = bench_rss_anon_bytes();
    self.seen = malloc(options->tasks);
    memset(self.seen, 0xff, options->tasks); /* touched, so that it counts */
    submit_all(&self, options->tasks);
    outcome->backlog_bytes = bench_rss_anon_bytes() - start_bytes;
    rt_scheduler_release(self.scheduler);
    rt_scheduler_wait_idle(self.scheduler, RT_SCHEDULER_FOREVER);
    outcome->drained_bytes = bench_rss_anon_bytes() - start_bytes;
    bench_usage_since(&before, outcome);
    rt_scheduler_destroy(self.scheduler);
    bench_body_report(self.body, outcome);
    outcome->queue_p50_ns = 0;
    outcome->queue_p99_ns = 0;
    rt_task_pool_destroy(self.pool);
    free(self.seen);
    bench_body_destroy(self.body);
    return 0;
}
