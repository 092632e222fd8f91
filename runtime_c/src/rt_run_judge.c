/* The verdict over a run: its outcome, and one sentence why. */
#include "rt_run_parts.h"

#include <inttypes.h>
#include <signal.h>

#define BEHIND_NS 10000000u /* 10 ms */
#define BEHIND_PART 20u     /* of the time of submission */

static const char *signal_name(int number) {
    switch (number) {
    case SIGHUP:
        return "SIGHUP";
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    default:
        return "no usual one";
    }
}

/* The suite that started the process sets SIGALRM at its deadline. */
static const char *judge_stop(int number, rt_message *cause) {
    if (number == SIGALRM) {
        rt_fail(cause, RT_TIMED_OUT, "no end before the deadline of the run");
        return "timed_out";
    }
    rt_fail(cause, RT_STOPPED, "interrupted by signal %d (%s)", number, signal_name(number));
    return "killed";
}

/* In an open loop tasks queue in front of the submitter too, when it cannot offer as many as are due: its lateness then
 * rises from the first task to the last, and half of them are later than a disturbance explains. */
static bool fell_behind(const rt_workload_result *result, uint64_t *median_ns) {
    if (result->lateness == NULL || result->tasks_submitted == 0) {
        return false;
    }
    *median_ns = rt_histogram_percentile_ns(result->lateness, 50, 100);
    return *median_ns > BEHIND_NS && *median_ns > result->submit_ns / BEHIND_PART;
}

/* Tasks that failed, were cancelled or timed out by the plan are what the run is about: it completed. */
static const char *judge_tasks(const rt_workload_result *result, rt_message *cause) {
    const rt_workload_stability *const stability = &result->stability;
    const uint64_t failed = result->faults.any ? result->faults.failed_unplanned : result->tasks_failed;
    if (failed > 0) {
        rt_fail(cause, RT_FAILED, "%" PRIu64 " tasks failed", failed);
        return "failed";
    }
    if (result->tasks_rejected > 0) {
        rt_fail(cause, RT_FULL, "%" PRIu64 " tasks were rejected at the queue limit", result->tasks_rejected);
        return "overloaded";
    }
    uint64_t median_ns;
    if (fell_behind(result, &median_ns)) {
        rt_fail(cause, RT_FULL, "the submitter fell behind its schedule: half of the tasks were more than %.0f ms late",
                (double)median_ns / 1e6);
        return "overloaded";
    }
    if (result->course != NULL && stability->growth_missing == NULL && stability->growth.growing) {
        rt_fail(cause, RT_FULL,
                "the queue grew by %.0f tasks a second over the last %.0f ms of submission: from %.0f to %.0f",
                stability->growth.growth_per_second, (double)stability->growth.window_ns / 1e6,
                stability->growth.queue_first, stability->growth.queue_last);
        return "overloaded";
    }
    return "completed";
}

/* What the run broke off with outweighs a wrong check, which it explains; a wrong check outweighs an
 * interruption: the numbers of such a run mean nothing. */
void rt_run_judge(const rt_run *self, const rt_message *verified, const rt_message *broke_off,
                  rt_record *record, rt_message *cause) {
    const rt_workload_result *const result = record->result;
    const bool is_task_run = self->subject.workload != NULL;
    if (broke_off->text[0] != '\0') {
        record->outcome = "failed";
        *cause = *broke_off;
    } else if (result->stopped && !is_task_run) {
        record->outcome = judge_stop(atomic_load(&self->signal_number), cause);
    } else if (!result->checks.passed) {
        record->outcome = "failed";
        rt_fail(cause, RT_FAILED, "%.200s", verified->text);
    } else if (result->stopped) {
        record->outcome = judge_stop(atomic_load(&self->signal_number), cause);
    } else {
        record->outcome = judge_tasks(result, cause);
    }
    record->cause = cause->text[0] != '\0' ? cause->text : NULL;
}
