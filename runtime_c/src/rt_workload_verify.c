/* The proof: every task that was admitted ended once, and those whose body ran did what the formulas say. */
#include "rt_workload_parts.h"

/* What the notes of all tasks add up to. */
typedef struct ended_tasks {
    uint64_t ends[RT_SEEN_TIMED_OUT + 1]; /* by rt_seen_end, of those seen once */
    uint64_t failed_as_chosen;
    uint64_t completed_though_chosen; /* to fail */
} ended_tasks;

static bool did_run(const rt_workload *self, uint8_t seen) {
    return self->disturbed ? (seen & RT_SEEN_BODY) != 0 : (seen & RT_SEEN_COUNT) > 0;
}

static void sort_by_end(const rt_workload *self, uint64_t id, uint8_t seen, ended_tasks *ended) {
    const unsigned end = seen >> RT_SEEN_END_SHIFT;
    if (end > RT_SEEN_TIMED_OUT) {
        return;
    }
    const bool chosen = rt_faults_choose(&self->chosen, RT_FAULT_FAIL, id);
    ended->ends[end]++;
    ended->failed_as_chosen += chosen && end == RT_SEEN_FAILED;
    ended->completed_though_chosen += chosen && end == RT_SEEN_COMPLETED;
}

/* Counts how often each task was seen and adds up what those whose body ran must have done. */
static void expect(const rt_workload *self, rt_workload_checks *checks, rt_task_body_counts *expected,
                   ended_tasks *ended) {
    const bool probes = self->options.runner == RT_RUNNER_PROBES;
    for (uint64_t id = 0; id < self->options.tasks; id++) {
        const uint8_t seen = atomic_load_explicit(&self->seen[id], memory_order_relaxed);
        const unsigned times = seen & RT_SEEN_COUNT;
        checks->tasks_seen_never += times == 0;
        checks->tasks_seen_once += times == 1;
        checks->tasks_seen_twice += times > 1;
        if (times == 1) {
            sort_by_end(self, id, seen, ended);
        }
        if (probes && did_run(self, seen)) {
            rt_task_body_expect(self->body, id, expected);
        }
    }
}

static bool rolled_back_exactly(const rt_workload *self) {
    rt_rollback_result result;
    if (self->rollback == NULL) {
        return true;
    }
    rt_rollback_result_read(self->rollback, &result);
    return result.mismatches == 0 && result.checksum_before == result.checksum_after;
}

typedef struct rule {
    const char *name;
    bool holds;
} rule;

static const char *first_broken(const rule *rules, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!rules[i].holds) {
            return rules[i].name;
        }
    }
    return NULL;
}

static const char *difference_of_work(const rt_workload *self, const rt_workload_checks *checks,
                                      const rt_task_body_counts *done,
                                      const rt_task_body_counts *expected) {
    const rule rules[] = {
        {"the context after a rollback", rolled_back_exactly(self)},
        {"context_checksum", checks->context_checksum == checks->context_checksum_expected},
        {"probe_checksum", checks->probe_checksum == checks->probe_checksum_expected},
        {"lookups_failed", checks->lookups_failed == 0},
        {"role_lookups", done->role_lookups == expected->role_lookups},
        {"prompt_bytes", done->prompt_bytes == expected->prompt_bytes},
        {"probes_done", done->probes_done == expected->probes_done},
        {"output_bytes_written", done->output_bytes_written == expected->output_bytes_written},
    };
    return first_broken(rules, sizeof rules / sizeof *rules);
}

/* Tasks that a stop took back were seen by nobody and are cancelled all the same. */
static const char *difference_of_counts(const rt_workload *self, const rt_workload_checks *checks,
                                        const rt_scheduler_counts *counts, const ended_tasks *ended) {
    const uint64_t cancelled = ended->ends[RT_SEEN_CANCELLED];
    const bool taken_back = self->stopped || self->broke_off;
    const rule rules[] = {
        {"tasks_seen_twice", checks->tasks_seen_twice == 0},
        {"tasks_completed", counts->completed == ended->ends[RT_SEEN_COMPLETED]},
        {"tasks_failed", counts->failed == ended->ends[RT_SEEN_FAILED]},
        {"tasks_timed_out", counts->timed_out == ended->ends[RT_SEEN_TIMED_OUT]},
        {"tasks_cancelled", taken_back ? counts->cancelled >= cancelled
                                          : counts->cancelled == cancelled &&
                                                cancelled <= self->cancels_asked},
        {"failed_chosen", ended->completed_though_chosen == 0},
        {"active_at_end", counts->active == 0},
        {"queue_at_end", counts->queued == 0},
        {"tasks_submitted", counts->submitted == counts->admitted + counts->rejected},
        {"tasks_admitted", counts->admitted == counts->completed + counts->failed + counts->cancelled +
                                                   counts->timed_out},
    };
    return first_broken(rules, sizeof rules / sizeof *rules);
}

/* Failures that neither the seed nor the provider explains. A task whose provider gave up may still have ended by
 * its time limit, so there can be fewer failures than that. */
static uint64_t count_unplanned(const rt_workload *self, const ended_tasks *ended) {
    rt_provider_counts provider = {.given_up = 0};
    if (self->provider != NULL) {
        rt_provider_count(self->provider, &provider);
    }
    const uint64_t planned = ended->failed_as_chosen + provider.given_up;
    const uint64_t failed = ended->ends[RT_SEEN_FAILED];
    return failed > planned ? failed - planned : 0;
}

static void read_checks(const rt_workload *self, const rt_task_body_counts *done,
                        const rt_task_body_counts *expected, rt_workload_checks *checks) {
    checks->context_checksum = rt_task_body_context_checksum(self->body);
    checks->context_checksum_expected = rt_task_body_context_expected(self->body);
    checks->probe_checksum = done->probe_checksum;
    checks->probe_checksum_expected = expected->probe_checksum;
    checks->role_lookups_expected = expected->role_lookups;
    checks->prompt_bytes_expected = expected->prompt_bytes;
    checks->probes_expected = expected->probes_done;
    checks->output_bytes_expected = expected->output_bytes_written;
    checks->lookups_failed = done->lookups_failed;
}

rt_status rt_workload_verify(rt_workload *self, rt_message *why) {
    if (atomic_load(&self->phase) < RT_PHASE_FINISHED) {
        return rt_fail(why, RT_BUSY, "the run is not finished; execute it first");
    }
    rt_task_body_counts done;
    rt_task_body_counts expected = {.role_lookups = 0};
    rt_scheduler_counts counts;
    rt_workload_checks checks = {.tasks_seen_once = 0};
    ended_tasks ended = {.failed_as_chosen = 0};
    rt_task_body_count(self->body, &done);
    rt_scheduler_count(self->scheduler, &counts);
    expect(self, &checks, &expected, &ended);
    read_checks(self, &done, &expected, &checks);
    checks.ended_cancelled = ended.ends[RT_SEEN_CANCELLED];
    const char *difference = difference_of_work(self, &checks, &done, &expected);
    if (difference == NULL) {
        difference = difference_of_counts(self, &checks, &counts, &ended);
    }
    checks.passed = difference == NULL;
    self->failed_unplanned = count_unplanned(self, &ended);
    self->checks = checks;
    atomic_store(&self->phase, RT_PHASE_VERIFIED);
    return checks.passed
               ? RT_OK
               : rt_fail(why, RT_FAILED, "%s is not what the formulas and counts require", difference);
}
