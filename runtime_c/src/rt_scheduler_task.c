/* What a runner may ask of the scheduler while it runs: yield, sleep, block, poll. */
#include "rt_scheduler_parts.h"

static rt_activation *activation_of(rt_task_run *run) { return (rt_activation *)(void *)run; }

rt_status rt_task_poll(rt_task_run *run) {
    const rt_activation *const activation = activation_of(run);
    const rt_task *const task = activation->task;
    const rt_scheduler *const scheduler = activation->scheduler;
    if ((rt_task_control(task) & RT_TASK_CANCEL) != 0 || rt_scheduler_is_abandoned(scheduler)) {
        return RT_CANCELLED;
    }
    if (task->deadline_ns != 0 && rt_clock_now_ns(scheduler->clock) >= task->deadline_ns) {
        return RT_TIMED_OUT;
    }
    return RT_OK;
}

rt_status rt_task_yield(rt_task_run *run) {
    rt_activation *const activation = activation_of(run);
    const rt_status status = rt_task_poll(run);
    if (status != RT_OK) {
        return status;
    }
    activation->yields = true;
    return rt_worker_suspend(activation->worker, activation) ? rt_task_poll(run) : RT_OK;
}

/* Saturates, and never lies after the task's deadline. */
static uint64_t wake_time_ns(const rt_activation *activation, uint64_t duration_ns) {
    const uint64_t now_ns = rt_clock_now_ns(activation->scheduler->clock);
    const uint64_t deadline_ns = activation->task->deadline_ns;
    const uint64_t wake_ns = now_ns + duration_ns < now_ns ? UINT64_MAX - 1 : now_ns + duration_ns;
    return deadline_ns != 0 && deadline_ns < wake_ns ? deadline_ns : wake_ns;
}

static rt_status pause_task(rt_task_run *run, uint64_t duration_ns, bool may_suspend) {
    rt_activation *const activation = activation_of(run);
    const rt_status status = rt_task_poll(run);
    if (status != RT_OK) {
        return status;
    }
    activation->yields = false;
    activation->sleeper.wake_ns = wake_time_ns(activation, duration_ns);
    if (!may_suspend || !rt_worker_suspend(activation->worker, activation)) {
        rt_worker_wait_with(activation->worker, activation);
    }
    return rt_task_poll(run);
}

rt_status rt_task_sleep(rt_task_run *run, uint64_t duration_ns) { return pause_task(run, duration_ns, true); }

rt_status rt_task_block(rt_task_run *run, uint64_t duration_ns) {
    return pause_task(run, duration_ns, false);
}
