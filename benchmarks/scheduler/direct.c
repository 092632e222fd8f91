#include "direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rt_status run_task(void *context, rt_task_run *run) {
    direct *const self = context;
    if (self->options->kind == BENCH_YIELD) {
        const rt_status status = rt_task_yield(run);
        if (status != RT_OK) {
            return status;
        }
    }
    bench_body_work(self->body, run->task_id, run->worker);
    return RT_OK;
}

static void recycle(void *context, rt_task *const *tasks, size_t count) {
    rt_task_pool_give(((direct *)context)->pool, tasks, count);
}

void direct_start(direct *self, const bench_options *options, uint64_t objects) {
    rt_message why = {"no memory"};
    memset(self, 0, sizeof *self);
    rt_allocator_init(&self->allocator, 0);
    self->options = options;
    self->body = bench_body_create(options, options->workers);
    const rt_scheduler_options scheduler = {.allocator = &self->allocator,
                                            .hooks = {self, run_task, NULL, recycle},
                                            .workers = options->workers,
                                            .max_active = options->workers,
                                            .queue_limit = objects,
                                            .history_limit_tasks = 64,
                                            .history_limit_bytes = 1u << 20,
                                            .output_capacity_bytes = options->output_bytes,
                                            .stack_bytes = options->kind == BENCH_YIELD ? 65536 : 0};
    if (rt_scheduler_create(&scheduler, &self->scheduler, &why) != RT_OK ||
        rt_task_pool_create(&self->allocator, objects, &self->pool) != RT_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    rt_scheduler_wait_idle(self->scheduler, RT_SCHEDULER_FOREVER);
}

void direct_submit(direct *self, uint64_t first_id, size_t count, const uint64_t *submitted_ns) {
    rt_task *tasks[DIRECT_BATCH];
    if (rt_task_pool_take(self->pool, tasks, count) < count) {
        fprintf(stderr, "more tasks are in flight than there is room for\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(tasks[i], 1);
    }
    const uint64_t now_ns = submitted_ns == NULL ? measure_now_ns() : 0;
    for (size_t i = 0; i < count; i++) {
        tasks[i]->id = first_id + i;
        tasks[i]->submitted_ns = submitted_ns == NULL ? now_ns : submitted_ns[i];
        tasks[i]->deadline_ns = 0;
        tasks[i]->priority = self->options->kind == BENCH_PRIORITIES ? (uint8_t)((first_id + i) % 4) : 0;
    }
    rt_scheduler_submit_many(self->scheduler, tasks, count, NULL);
}

void direct_finish(direct *self, measure_outcome *outcome) {
    static rt_histogram queue;
    rt_scheduler_wait_idle(self->scheduler, RT_SCHEDULER_FOREVER);
    rt_histogram_init(&queue);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_QUEUE, &queue);
    bench_body_report(self->body, outcome);
    outcome->latency_p50_ns = rt_histogram_percentile_ns(&queue, 1, 2);
    outcome->latency_p99_ns = rt_histogram_percentile_ns(&queue, 99, 100);
}

void direct_end(direct *self) {
    rt_scheduler_destroy(self->scheduler);
    rt_task_pool_destroy(self->pool);
    bench_body_destroy(self->body);
}
