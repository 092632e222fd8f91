/* Our scheduler in a closed loop with any body, and with all tasks queued at once. */
#include "direct.h"

#include <stdlib.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The closed loop of rt_workload: at most `window` in flight, refilled when half of them are done. */
int bench_direct(const bench_options *options, measure_outcome *outcome) {
    static direct self;
    const uint64_t settling = options->workers * (uint64_t)RT_SCHEDULER_MAX_BATCH + DIRECT_BATCH;
    direct_start(&self, options, options->window + settling);
    const measure_usage before = measure_usage_read();
    uint64_t room = options->window;
    for (uint64_t next = 0; next < options->tasks;) {
        if (room == 0) {
            rt_scheduler_wait_in_flight(self.scheduler, options->window / 2, RT_SCHEDULER_FOREVER);
            room = options->window - options->window / 2;
        }
        const size_t count = (size_t)least(least(DIRECT_BATCH, room), options->tasks - next);
        direct_submit(&self, next, count, NULL);
        next += count;
        room -= count;
    }
    rt_scheduler_wait_idle(self.scheduler, RT_SCHEDULER_FOREVER);
    measure_usage_since(&before, outcome);
    outcome->memory_bytes = measure_peak_bytes();
    direct_finish(&self, outcome);
    direct_end(&self);
    return 0;
}

/* Everything that a task needs is counted: its object, its place in the list of free ones, and the byte that
 * a run keeps to prove that it ran once. */
int bench_backlog(const bench_options *options, measure_outcome *outcome) {
    static direct self;
    direct_start(&self, options, options->tasks);
    rt_scheduler_hold(self.scheduler);
    const measure_usage before = measure_usage_read();
    const uint64_t start_bytes = measure_rss_anon_bytes();
    uint8_t *const seen = malloc(options->tasks);
    memset(seen, 0xff, options->tasks); /* touched, so that it counts */
    for (uint64_t next = 0; next < options->tasks; next += DIRECT_BATCH) {
        direct_submit(&self, next, (size_t)least(DIRECT_BATCH, options->tasks - next), NULL);
    }
    outcome->backlog_bytes = measure_rss_anon_bytes() - start_bytes;
    rt_scheduler_release(self.scheduler);
    rt_scheduler_wait_idle(self.scheduler, RT_SCHEDULER_FOREVER);
    outcome->drained_bytes = measure_rss_anon_bytes() - start_bytes;
    measure_usage_since(&before, outcome);
    direct_finish(&self, outcome);
    outcome->latency_p50_ns = 0;
    outcome->latency_p99_ns = 0;
    free(seen);
    direct_end(&self);
    return 0;
}
