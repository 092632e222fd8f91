/* How tasks reach the scheduler: in a closed loop with a window, or paced in an open loop. */
#include "rt_workload_parts.h"

#include <sys/prctl.h>

#define SUBMIT_BATCH 32u
#define STOP_POLL_NS UINT64_C(20000000) /* how long a waiting submitter may miss a request to stop */
#define SHORTEST_SLEEP_NS                                                                                    \
    UINT64_C(80000) /* each sleep is a context switch: tasks that are due are handed over together */
#define PACED_TIMER_SLACK_NS 1000ul /* the default of 50 us would be added to every pause */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Released tasks come back late by what each worker settles (a batch) beside the batch that it runs. */
uint64_t rt_workload_task_objects(const rt_workload_options *options) {
    const uint64_t batches = options->workers * (uint64_t)RT_SCHEDULER_MAX_BATCH;
    const uint64_t waiting = options->submission == RT_SUBMISSION_CLOSED
                                 ? options->window
                                 : least(options->queue_limit, options->tasks);
    const uint64_t in_flight = options->submission == RT_SUBMISSION_CLOSED ? waiting : waiting + batches;
    return least(in_flight + batches + SUBMIT_BATCH, options->tasks);
}

/* Takes `count` tasks from the pool, numbers them from first_id, submits them and puts back what was
 * rejected. */
static rt_status submit_batch(rt_workload *self, uint64_t first_id, size_t count, const uint64_t *due_ns) {
    rt_task *tasks[SUBMIT_BATCH];
    size_t admitted;
    const size_t taken = rt_task_pool_take(self->pool, tasks, count);
    if (taken < count) { /* rt_workload_task_objects says that this cannot be */
        rt_task_pool_give(self->pool, tasks, taken);
        return RT_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(tasks[i], 1); /* a worker wrote there last: fetch all at once, not one by one */
    }
    const uint64_t now_ns = due_ns == NULL ? rt_clock_now_ns(self->clock) : 0;
    for (size_t i = 0; i < count; i++) {
        tasks[i]->id = first_id + i;
        tasks[i]->priority = 0;
        tasks[i]->submitted_ns = due_ns == NULL ? now_ns : due_ns[i];
        tasks[i]->deadline_ns = 0;
    }
    const rt_status status = rt_scheduler_submit_many(self->scheduler, tasks, count, &admitted);
    rt_task_pool_give(self->pool, tasks + admitted, count - admitted);
    return status == RT_FULL ? RT_OK : status; /* rejections are counted by the scheduler */
}

/* Waits in slices, so that a request to stop, which may come from a signal handler, is seen. */
static rt_status wait_in_flight(rt_workload *self, uint64_t in_flight) {
    rt_status status = RT_TIMED_OUT;
    while (status == RT_TIMED_OUT && !rt_workload_must_stop(self)) {
        status = rt_scheduler_wait_in_flight(self->scheduler, in_flight, STOP_POLL_NS);
    }
    return status == RT_TIMED_OUT ? RT_STOPPED : status;
}

static rt_status submit_closed(rt_workload *self) {
    const uint64_t window = self->options.window;
    const uint64_t refill_at = window / 2;
    uint64_t room = window;
    rt_status status = RT_OK;
    for (uint64_t next = 0; next < self->options.tasks && status == RT_OK;) {
        if (rt_workload_must_stop(self)) {
            return RT_STOPPED;
        }
        if (room == 0) {
            status = wait_in_flight(self, refill_at);
            room = window - refill_at;
            continue;
        }
        const size_t count = (size_t)least(least(SUBMIT_BATCH, room), self->options.tasks - next);
        status = submit_batch(self, next, count, NULL);
        next += count;
        room -= count;
    }
    return status;
}

/* When task `id` is due: start + id / rate, without accumulating an error. */
static uint64_t due_time_ns(const rt_workload *self, uint64_t start_ns, uint64_t id) {
    return start_ns + (uint64_t)((unsigned __int128)id * 1000000000u / self->options.rate_per_s);
}

static void sleep_until(const rt_workload *self, uint64_t due_ns) {
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    uint64_t pause_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    pause_ns = pause_ns < SHORTEST_SLEEP_NS ? SHORTEST_SLEEP_NS : pause_ns;
    pause_ns = least(pause_ns, STOP_POLL_NS);
    const struct timespec deadline = rt_clock_deadline(pause_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

/* Fills due_ns with the times of the tasks from `next` on that are due by now; returns how many. */
static size_t find_due(const rt_workload *self, uint64_t start_ns, uint64_t next, uint64_t *due_ns) {
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    size_t count = 0;
    while (count < SUBMIT_BATCH && next + count < self->options.tasks) {
        due_ns[count] = due_time_ns(self, start_ns, next + count);
        if (due_ns[count] > now_ns) {
            break;
        }
        count++;
    }
    return count;
}

static rt_status pace(rt_workload *self) {
    const uint64_t start_ns = atomic_load(&self->started_ns);
    rt_status status = RT_OK;
    for (uint64_t next = 0; next < self->options.tasks && status == RT_OK;) {
        uint64_t due_ns[SUBMIT_BATCH];
        if (rt_workload_must_stop(self)) {
            return RT_STOPPED;
        }
        const size_t count = find_due(self, start_ns, next, due_ns);
        if (count == 0) {
            sleep_until(self, due_time_ns(self, start_ns, next));
            continue;
        }
        status = submit_batch(self, next, count, due_ns);
        next += count;
    }
    return status;
}

/* Timer slack is the thread's own: it is lowered for the pacing only. */
static rt_status submit_paced(rt_workload *self) {
    const int slack_ns = prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, PACED_TIMER_SLACK_NS);
    const rt_status status = pace(self);
    if (slack_ns > 0) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns);
    }
    return status;
}

rt_status rt_workload_submit_all(rt_workload *self) {
    return self->options.submission == RT_SUBMISSION_CLOSED ? submit_closed(self) : submit_paced(self);
}
