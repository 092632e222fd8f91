/* What the scheduler calls: the body of a task, and what is noted when it ends. */
#include "rt_workload_parts.h"

#include <signal.h>
#include <unistd.h>

/* ---- the body ---- */

static rt_status run_body(rt_workload *self, rt_task_run *run) {
    return self->options.runner == RT_RUNNER_PROBES ? rt_task_body_run(self->body, run) : RT_OK;
}

static rt_status run_probes(void *context, rt_task_run *run) {
    return rt_task_body_run(((rt_workload *)context)->body, run);
}

static rt_status run_nothing(void *context, rt_task_run *run) {
    (void)context;
    (void)run;
    return RT_OK;
}

/* Yields, waits and faults come first, so that a task that ends early has done nothing of its body. */
static rt_status run_until_body(rt_workload *self, rt_task_run *run) {
    const rt_workload_options *const options = &self->options;
    rt_status status = RT_OK;
    for (uint32_t i = 0; status == RT_OK && i < options->yields; i++) {
        status = rt_task_yield(run);
        atomic_fetch_add_explicit(&self->tallies[run->worker].yields, 1, memory_order_relaxed);
    }
    if (status == RT_OK && rt_faults_choose(&self->chosen, RT_FAULT_SLOW, run->task_id)) {
        status = rt_provider_wait(self->provider, run, options->slow_us * 1000u);
    }
    if (status == RT_OK && rt_faults_choose(&self->chosen, RT_FAULT_FAIL, run->task_id)) {
        return RT_FAILED;
    }
    return status == RT_OK ? rt_provider_call(self->provider, run) : status;
}

/* The scheduler may still end a task whose body ran, because its time was over: so that it ran is noted here. */
static rt_status run_disturbed(void *context, rt_task_run *run) {
    rt_workload *const self = context;
    const uint64_t id = run->task_id;
    rt_status status = run_until_body(self, run);
    if (status == RT_OK) {
        status = run_body(self, run);
        atomic_fetch_or_explicit(&self->seen[id], RT_SEEN_BODY, memory_order_relaxed);
    }
    return status;
}

/* ---- the end ---- */

static rt_seen_end end_of(uint8_t status) {
    switch (status) {
    case RT_OK:
        return RT_SEEN_COMPLETED;
    case RT_CANCELLED:
        return RT_SEEN_CANCELLED;
    case RT_TIMED_OUT:
        return RT_SEEN_TIMED_OUT;
    default:
        return RT_SEEN_FAILED;
    }
}

static void mark_seen(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    (void)finalised_ns;
    (void)worker;
    rt_workload *const self = context;
    const unsigned note = 1u | (unsigned)end_of(task->status) << RT_SEEN_END_SHIFT;
    atomic_fetch_add_explicit(&self->seen[task->id], (uint8_t)note, memory_order_relaxed);
}

static void note_course(rt_workload *self, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    const uint32_t workers = self->options.workers;
    rt_workload_tally *const tally = &self->tallies[worker < workers ? worker : workers];
    uint64_t clamped = 0; /* the scheduler counts the same intervals */
    const uint64_t time_ns = rt_clock_interval_ns(task->admitted_ns, finalised_ns, &clamped);
    atomic_fetch_add_explicit(&tally->ended, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&tally->time_ns, time_ns, memory_order_relaxed);
    if (self->course != NULL && worker < workers) { /* a task that never ran has no latency */
        rt_course_record(self->course, worker,
                         rt_clock_interval_ns(task->submitted_ns, task->started_ns, &clamped));
    }
}

/* Nothing is flushed or joined: that is the point. */
static void count_to_the_kill(rt_workload *self) {
    const uint64_t finalised = atomic_fetch_add_explicit(&self->finalised, 1, memory_order_relaxed) + 1;
    if (finalised == self->options.kill_after_tasks) {
        kill(getpid(), SIGKILL);
    }
}

static void note_end(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    rt_workload *const self = context;
    mark_seen(self, task, finalised_ns, worker);
    if (self->backlog != NULL) {
        note_course(self, task, finalised_ns, worker);
    }
    if (self->tenants != NULL) {
        rt_tenants_finished(self->tenants, task, finalised_ns, worker);
    }
    if (self->options.kill_after_tasks > 0) {
        count_to_the_kill(self);
    }
}

static void recycle(void *context, rt_task *const *tasks, size_t count) {
    rt_task_pool_give(((rt_workload *)context)->pool, tasks, count);
}

rt_scheduler_hooks rt_workload_hooks(rt_workload *self) {
    const bool noted = self->backlog != NULL || self->tenants != NULL || self->options.kill_after_tasks > 0;
    rt_scheduler_hooks hooks = {self, run_nothing, noted ? note_end : mark_seen, recycle};
    if (self->disturbed) {
        hooks.run = run_disturbed;
    } else if (self->options.runner == RT_RUNNER_PROBES) {
        hooks.run = run_probes;
    }
    return hooks;
}
