/* Open loop: tasks are handed over when they are due, whatever the workers do. */
#include "rt_workload_parts.h"

#include <sys/prctl.h>

/* What becomes due within this time goes over in one call: at 100,000 tasks a second that is one wake-up of the
 * submitter for some 20 tasks, and a delay of half of it on average, which the latency contains. */
#define SHORTEST_SLEEP_NS UINT64_C(200000)
#define PACED_TIMER_SLACK_NS 1000ul /* the default of 50 us would be added to every pause */

/* Tasks that are due, from the `next`-th on. */
typedef struct due_batch {
    size_t count;
    uint64_t due_ns[RT_SUBMIT_MOST]; /* of the clock */
} due_batch;

static void sleep_until(const rt_workload *self, uint64_t due_ns) {
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    uint64_t pause_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    pause_ns = pause_ns < SHORTEST_SLEEP_NS ? SHORTEST_SLEEP_NS : pause_ns;
    pause_ns = pause_ns < RT_STOP_POLL_NS ? pause_ns : RT_STOP_POLL_NS;
    const struct timespec deadline = rt_clock_deadline(pause_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

/* Takes what is due by now off the arrivals, and records how late each of them is. */
static void take_due(rt_workload *self, rt_arrivals *arrivals, uint64_t left, uint64_t now_ns, due_batch *out) {
    const uint64_t start_ns = atomic_load(&self->started_ns);
    out->count = 0;
    while (out->count < RT_SUBMIT_MOST && out->count < left) {
        const uint64_t due_ns = start_ns + rt_arrivals_due_ns(arrivals);
        if (due_ns > now_ns) {
            return;
        }
        rt_histogram_record(self->lateness, now_ns - due_ns);
        out->due_ns[out->count++] = due_ns;
        rt_arrivals_advance(arrivals);
    }
}

/* When there is something to do next: a task, the end of a phase, or that of a period. */
static uint64_t next_event_ns(const rt_workload *self, const rt_arrivals *arrivals, uint64_t now_ns) {
    uint64_t phase_end_ns;
    const uint64_t passed_ns = rt_workload_since_start(self, now_ns);
    uint64_t event_ns = rt_arrivals_due_ns(arrivals);
    rt_arrivals_phase(&self->arrivals, passed_ns, &phase_end_ns);
    event_ns = phase_end_ns < event_ns ? phase_end_ns : event_ns;
    const uint64_t period_end_ns = rt_course_period_end_ns(self->course);
    event_ns = period_end_ns < event_ns ? period_end_ns : event_ns;
    return atomic_load(&self->started_ns) + event_ns;
}

static rt_status pace(rt_workload *self) {
    rt_arrivals arrivals;
    due_batch due;
    rt_status status = RT_OK;
    rt_arrivals_init(&arrivals, &self->arrivals);
    for (uint64_t next = 0; next < self->options.tasks && status == RT_OK;) {
        const uint64_t now_ns = rt_clock_now_ns(self->clock);
        if (rt_workload_must_stop(self)) {
            return RT_STOPPED;
        }
        rt_workload_follow(self, now_ns, false);
        take_due(self, &arrivals, self->options.tasks - next, now_ns, &due);
        if (due.count == 0) {
            sleep_until(self, next_event_ns(self, &arrivals, now_ns));
            continue;
        }
        status = rt_workload_submit_batch(self, next, due.count, due.due_ns);
        next += due.count;
    }
    return status;
}

void rt_workload_follow(rt_workload *self, uint64_t now_ns, bool draining) {
    uint64_t phase_end_ns;
    if (self->course == NULL) {
        return;
    }
    const uint64_t passed_ns = rt_workload_since_start(self, now_ns);
    const rt_load_phase phase =
        draining ? RT_LOAD_DRAIN : rt_arrivals_phase(&self->arrivals, passed_ns, &phase_end_ns);
    rt_scheduler_counts counts;
    rt_scheduler_count(self->scheduler, &counts);
    rt_course_observe(self->course, passed_ns, phase, &counts);
}

/* Timer slack is the thread's own: it is lowered for the pacing only. */
rt_status rt_workload_submit_open(rt_workload *self) {
    const int slack_ns = prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, PACED_TIMER_SLACK_NS);
    rt_course_begin(self->course, RT_LOAD_STEADY);
    const rt_status status = pace(self);
    if (slack_ns > 0) {
        prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns);
    }
    return status;
}
