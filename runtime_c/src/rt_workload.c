/* Life of a run: options, create, execute, destroy. */
#include "rt_workload_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TASKS (UINT64_C(1) << 40)
#define MAX_RATE_PER_S UINT64_C(1000000000)

static const char *const submission_names[] = {"closed", "paced", "poisson", "held"};
static const char *const phase_names[] = {"setup", "submit", "drain", "finished", "verified"};

const char *rt_submission_name(rt_submission submission) { return submission_names[submission]; }

const char *rt_phase_name(rt_phase phase) { return phase_names[phase]; }

void rt_workload_options_init(rt_workload_options *options) {
    *options = (rt_workload_options){.seed = 1,
                                     .tasks = 100000,
                                     .agents = 100,
                                     .workers = 8,
                                     .aux_workers = 8,
                                     .probes = 64,
                                     .context_bytes = 8u << 20,
                                     .queue_limit = 1u << 20,
                                     .max_active = RT_SCHEDULER_MAX_WORKERS,
                                     .history_limit_tasks = 64,
                                     .history_limit_bytes = 1u << 20,
                                     .output_bytes = 64,
                                     .submission = RT_SUBMISSION_CLOSED,
                                     .window = 1024,
                                     .runner = RT_RUNNER_PROBES,
                                     .priorities = 1,
                                     .batches = 1,
                                     .tenants = 1,
                                     .burst_factor = 1};
}

static rt_status check_counts(const rt_workload_options *options, rt_message *why) {
    if (options->workers == 0 || options->workers > RT_SCHEDULER_MAX_WORKERS) {
        return rt_fail(why, RT_INVALID, "workers is %u; choose 1 to %u", options->workers,
                       RT_SCHEDULER_MAX_WORKERS);
    }
    if (options->aux_workers > RT_SCHEDULER_MAX_WORKERS) {
        return rt_fail(why, RT_INVALID, "aux_workers is %u; choose 0 to %u", options->aux_workers,
                       RT_SCHEDULER_MAX_WORKERS);
    }
    if (options->priorities == 0 || options->priorities > RT_SCHEDULER_LEVELS) {
        return rt_fail(why, RT_INVALID, "priorities is %u; choose 1 to %u", options->priorities,
                       RT_SCHEDULER_LEVELS);
    }
    if (options->batches == 0 || options->tasks % options->batches != 0) {
        return rt_fail(why, RT_INVALID, "batches is %u; choose a number that divides %llu tasks",
                       options->batches, (unsigned long long)options->tasks);
    }
    if (options->tenants == 0 || options->tenants > RT_PROVIDER_MAX_TENANTS) {
        return rt_fail(why, RT_INVALID, "tenants is %u; choose 1 to %u", options->tenants,
                       RT_PROVIDER_MAX_TENANTS);
    }
    return RT_OK;
}

/* What the parts do not check themselves. */
static rt_status check_options(const rt_workload_options *options, rt_message *why) {
    const bool closed = options->submission == RT_SUBMISSION_CLOSED;
    const bool open = rt_submission_is_open(options->submission);
    if (options->tasks == 0 || options->tasks > MAX_TASKS) {
        return rt_fail(why, RT_INVALID, "tasks is %llu; choose 1 to %llu", (unsigned long long)options->tasks,
                       (unsigned long long)MAX_TASKS);
    }
    if (closed && (options->window == 0 || options->rate_per_s != 0)) {
        return rt_fail(why, RT_INVALID,
                       "a closed loop needs a window of 1 or more and no rate; window is %u, rate_per_s %llu",
                       options->window, (unsigned long long)options->rate_per_s);
    }
    if (open && (options->window != 0 || options->rate_per_s == 0 || options->rate_per_s > MAX_RATE_PER_S)) {
        return rt_fail(
            why, RT_INVALID,
            "a paced run needs a rate of 1 to %llu a second and no window; rate_per_s is %llu, window %u",
            (unsigned long long)MAX_RATE_PER_S, (unsigned long long)options->rate_per_s, options->window);
    }
    return check_counts(options, why);
}

/* ---- create and destroy ---- */

/* All workers have started and are asleep before anything is measured. */
static void settle_down(rt_workload *self) {
    rt_scheduler_wait_idle(self->scheduler, RT_SCHEDULER_FOREVER);
    if (self->auxiliary != NULL) {
        rt_scheduler_wait_idle(self->auxiliary, RT_SCHEDULER_FOREVER);
    }
}

rt_status rt_workload_create(const rt_workload_options *options, rt_workload **out, rt_message *why) {
    *out = NULL;
    rt_status status = check_options(options, why);
    if (status != RT_OK) {
        return status;
    }
    rt_workload *const self = calloc(1, sizeof *self); /* holds the allocator that all the rest comes from */
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for a run; free some and run again");
    }
    rt_allocator_init(&self->allocator, options->fail_allocation_at);
    self->options = *options;
    self->clock = options->clock != NULL ? options->clock : &rt_clock_machine;
    status = rt_workload_create_parts(self, why);
    if (status != RT_OK) {
        rt_workload_destroy(self);
        return status;
    }
    settle_down(self);
    *out = self;
    return RT_OK;
}

void rt_workload_destroy(rt_workload *self) {
    if (self == NULL) {
        return;
    }
    rt_scheduler_destroy(self->auxiliary);
    rt_scheduler_destroy(self->scheduler);
    rt_task_pool_destroy(self->pool);
    rt_backlog_destroy(self->backlog);
    rt_course_destroy(self->course);
    rt_tenants_destroy(self->tenants);
    rt_provider_destroy(self->provider);
    rt_free_lines(&self->allocator, self->batches);
    rt_free_lines(&self->allocator, self->tallies);
    rt_free_lines(&self->allocator, self->lateness);
    rt_free_lines(&self->allocator, (void *)self->seen);
    rt_free_lines(&self->allocator, self->histograms);
    rt_rollback_destroy(self->rollback);
    rt_task_body_destroy(self->body);
    free(self);
}

/* ---- execute ---- */

void rt_workload_request_stop(rt_workload *self) {
    atomic_store(&self->stop_requested, 1);
    if (self->rollback != NULL) {
        rt_rollback_request_stop(self->rollback);
    }
}

static void look_for_stop(rt_workload *self) {
    if (rt_workload_must_stop(self) && !self->stopped) {
        self->stopped = true;
        rt_scheduler_abandon(self->scheduler);
    }
}

/* How long a wait may last before the next look at a stop and at the course. */
static uint64_t patience_ns(const rt_workload *self) {
    const uint64_t period_end_ns =
        self->course == NULL ? UINT64_MAX : rt_course_period_end_ns(self->course);
    if (self->course == NULL || period_end_ns == UINT64_MAX) {
        return self->stopped ? RT_SCHEDULER_FOREVER : RT_STOP_POLL_NS;
    }
    const uint64_t passed_ns = rt_workload_since_start(self, rt_clock_now_ns(self->clock));
    const uint64_t left_ns = period_end_ns > passed_ns ? period_end_ns - passed_ns : 0;
    return left_ns < RT_STOP_POLL_NS ? left_ns : RT_STOP_POLL_NS;
}

rt_status rt_workload_drain(rt_workload *self) {
    rt_status status = RT_TIMED_OUT;
    while (status == RT_TIMED_OUT) {
        look_for_stop(self);
        rt_workload_follow(self, rt_clock_now_ns(self->clock), true);
        status = rt_scheduler_wait_idle(self->scheduler, patience_ns(self));
    }
    return status;
}

/* Only while everything stands still. */
static void end_course(rt_workload *self) {
    rt_scheduler_counts counts;
    if (self->course != NULL) {
        rt_scheduler_count(self->scheduler, &counts);
        rt_course_end(self->course, rt_workload_since_start(self, atomic_load(&self->finished_ns)), &counts);
    }
}

static rt_status submit_and_drain(rt_workload *self) {
    const rt_status submitted = rt_workload_submit_all(self);
    if (submitted != RT_OK && submitted != RT_STOPPED) {
        self->broke_off = true;
        rt_scheduler_abandon(self->scheduler);
    }
    if (self->last_submit_ns == 0) {
        self->last_submit_ns = rt_clock_now_ns(self->clock);
    }
    if (atomic_load(&self->submitted_ns) == 0) {
        atomic_store(&self->submitted_ns, self->last_submit_ns);
    }
    self->ended_in = submitted != RT_OK ? RT_PHASE_SUBMIT : RT_PHASE_DRAIN;
    atomic_store(&self->phase, RT_PHASE_DRAIN);
    const rt_status drained = rt_workload_drain(self);
    if (!self->stopped && submitted == RT_OK) {
        self->ended_in = RT_PHASE_FINISHED;
    }
    return submitted != RT_OK && submitted != RT_STOPPED ? submitted : drained;
}

void rt_workload_read_cpu(const rt_workload *self, uint64_t *worker_ns, uint64_t *auxiliary_ns) {
    *worker_ns = 0;
    *auxiliary_ns = 0;
    for (uint32_t i = 0; i < self->options.workers; i++) {
        *worker_ns += rt_scheduler_worker_cpu_ns(self->scheduler, i);
    }
    for (uint32_t i = 0; self->auxiliary != NULL && i < self->options.aux_workers; i++) {
        *auxiliary_ns += rt_scheduler_worker_cpu_ns(self->auxiliary, i);
    }
}

/* A stop ends the cycles early, which the submission then sees for itself. */
static rt_status begin_rollbacks(rt_workload *self, rt_message *why) {
    rt_status status = RT_OK;
    if (self->options.snapshot == RT_SNAPSHOT_AT_REST) {
        status = rt_rollback_run(self->rollback, why);
    } else if (self->options.snapshot == RT_SNAPSHOT_RUNNING) {
        status = rt_rollback_start(self->rollback, why);
    }
    return status == RT_STOPPED ? RT_OK : status;
}

static rt_status end_rollbacks(rt_workload *self, rt_message *why) {
    if (self->options.snapshot != RT_SNAPSHOT_RUNNING) {
        return RT_OK;
    }
    const rt_status status = rt_rollback_join(self->rollback, why);
    return status == RT_STOPPED ? RT_OK : status;
}

static rt_status measure(rt_workload *self) {
    uint64_t worker_ns, auxiliary_ns;
    rt_workload_read_cpu(self, &self->worker_cpu_ns, &self->auxiliary_cpu_ns);
    self->started_at_s = rt_clock_wall_s(self->clock);
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    atomic_store(&self->started_ns, now_ns);
    if (self->provider != NULL) {
        rt_provider_start(self->provider, now_ns);
    }
    const rt_status status = submit_and_drain(self);
    atomic_store(&self->finished_ns, rt_clock_now_ns(self->clock));
    rt_workload_read_cpu(self, &worker_ns, &auxiliary_ns);
    self->worker_cpu_ns = worker_ns - self->worker_cpu_ns;
    self->auxiliary_cpu_ns = auxiliary_ns - self->auxiliary_cpu_ns;
    end_course(self);
    return status;
}

rt_status rt_workload_execute(rt_workload *self, rt_message *why) {
    int setup = RT_PHASE_SETUP;
    if (!atomic_compare_exchange_strong(&self->phase, &setup, RT_PHASE_SUBMIT)) {
        return rt_fail(why, RT_BUSY, "this run was executed already; create another");
    }
    rt_message sentence = {""};
    const rt_status begun = begin_rollbacks(self, &sentence);
    if (begun != RT_OK) {
        rt_workload_request_stop(self); /* the run still passes through its phases, with nothing submitted */
    }
    rt_status status = measure(self);
    const rt_status ended = begun == RT_OK ? end_rollbacks(self, &sentence) : RT_OK;
    status = begun != RT_OK ? begun : status == RT_OK ? ended : status;
    atomic_store(&self->phase, RT_PHASE_FINISHED);
    if (status != RT_OK) {
        return rt_fail(why, status, "the run broke off: %.200s",
                       sentence.text[0] != '\0' ? sentence.text : rt_status_text(status));
    }
    return self->stopped ? rt_fail(why, RT_STOPPED, "the run was stopped on request") : RT_OK;
}
