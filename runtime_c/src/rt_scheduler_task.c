/* What a runner may ask of the scheduler while it runs: yield, sleep, poll. */
#include "rt_scheduler_parts.h"

#include <time.h>

rt_status rt_task_poll(rt_task_run *run) {
    (void)run;
    return RT_OK;
}

rt_status rt_task_yield(rt_task_run *run) { return rt_task_poll(run); }

rt_status rt_task_sleep(rt_task_run *run, uint64_t duration_ns) {
    const struct timespec deadline = rt_clock_deadline(duration_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
    return rt_task_poll(run);
}

rt_status rt_scheduler_cancel(rt_scheduler *self, rt_task *task, uint64_t id) {
    (void)task, (void)id;
    return rt_scheduler_is_forked(self) ? RT_FORKED : RT_NOT_FOUND;
}

void rt_scheduler_contention(const rt_scheduler *self, rt_scheduler_contention_report *out) {
    (void)self;
    *out = (rt_scheduler_contention_report){.sample_every = 0};
}

uint64_t rt_scheduler_worker_cpu_ns(const rt_scheduler *self, uint32_t worker) {
    (void)self, (void)worker;
    return 0;
}
