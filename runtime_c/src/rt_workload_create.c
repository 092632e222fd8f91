/* The parts of a run, each made only when the options ask for it. */
#include "rt_workload_parts.h"

#define SHORTEST_PERIOD_NS UINT64_C(1000000)
#define LONGEST_PERIOD_NS UINT64_C(60000000000)
#define PERIODS_EXPECTED 50u
#define BACKLOG_ROWS 8192u
#define PAGE_BYTES 4096u

static rt_status create_scheduler(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    const rt_scheduler_options scheduler = {
        .allocator = &self->allocator,
        .clock = self->clock,
        .start_thread = options->start_thread,
        .hooks = rt_workload_hooks(self),
        .workers = options->workers,
        .max_active = options->max_active,
        .queue_limit = options->queue_limit,
        .history_limit_tasks = options->history_limit_tasks,
        .history_limit_bytes = options->history_limit_bytes,
        .output_capacity_bytes = options->output_bytes,
        .stack_bytes = options->stack_bytes,
        .max_suspended = options->max_suspended,
        .contention_sample_every = RT_WORKLOAD_CONTENTION_SAMPLE_EVERY,
    };
    return rt_scheduler_create(&scheduler, &self->scheduler, why);
}

static rt_status run_nothing(void *context, rt_task_run *run) {
    (void)context;
    (void)run;
    return RT_OK;
}

/* Auxiliary workers are runtime workers like the others; they only never get a task. */
static rt_status create_auxiliary(rt_workload *self, rt_message *why) {
    if (self->options.aux_workers == 0) {
        return RT_OK;
    }
    rt_allocator_init_part(&self->auxiliary_allocator, &self->allocator, RT_OWNER_AUXILIARY);
    const rt_scheduler_options auxiliary = {.allocator = &self->auxiliary_allocator,
                                            .clock = self->clock,
                                            .start_thread = self->options.start_thread,
                                            .hooks = {NULL, run_nothing, NULL, NULL},
                                            .workers = self->options.aux_workers,
                                            .max_active = 1,
                                            .queue_limit = 1};
    return rt_scheduler_create(&auxiliary, &self->auxiliary, why);
}

static rt_status create_body(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    const rt_task_body_options body = {.allocator = &self->allocator,
                                       .clock = self->clock,
                                       .seed = options->seed,
                                       .agents = options->agents,
                                       .workers = options->workers,
                                       .probes = options->probes,
                                       .context_bytes = options->context_bytes,
                                       .output_bytes = options->output_bytes,
                                       .pattern = options->access_pattern};
    return rt_task_body_create(&body, &self->body, why);
}

/* Tasks that run while the context is rewritten read a snapshot of it, so what they read stays known. */
static rt_status create_rollback(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    if (options->snapshot == RT_SNAPSHOT_NONE) {
        return RT_OK;
    }
    const rt_rollback_options rollback = {.allocator = &self->allocator,
                                          .clock = self->clock,
                                          .context = rt_task_body_context(self->body),
                                          .start_thread = options->start_thread,
                                          .seed = options->seed,
                                          .cycles = options->rollbacks,
                                          .rewrite_permille = options->rewrite_permille};
    const rt_status status = rt_rollback_create(&rollback, &self->rollback, why);
    return status == RT_OK && options->snapshot == RT_SNAPSHOT_RUNNING ? rt_task_body_pin(self->body, why)
                                                                       : status;
}

static rt_status create_tasks(rt_workload *self, rt_message *why) {
    const uint64_t tasks = self->options.tasks;
    self->seen = rt_allocate_owned(&self->allocator, RT_OWNER_VERIFICATION, tasks, sizeof *self->seen);
    if (self->seen == NULL || rt_task_pool_create(&self->allocator, rt_workload_task_objects(&self->options),
                                                  &self->pool) != RT_OK) {
        return rt_fail(why, RT_NO_MEMORY,
                       "no memory for %llu tasks; choose fewer, or a smaller window or queue_limit",
                       (unsigned long long)tasks);
    }
    return RT_OK;
}

/* ---- what disturbs tasks ---- */

static rt_status create_provider(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    const rt_provider_options provider = {.allocator = &self->allocator,
                                          .clock = self->clock,
                                          .seed = options->seed,
                                          .workers = options->workers,
                                          .tenants = options->tenants,
                                          .pooled_stacks = options->stack_bytes > 0,
                                          .mode = options->wait_mode,
                                          .wait_us = options->wait_us,
                                          .exponential = options->wait_exponential,
                                          .outage_start_ms = options->outage_start_ms,
                                          .outage_ms = options->outage_ms,
                                          .retry_policy = options->retry_policy,
                                          .retry_attempts = options->retry_attempts,
                                          .retry_delay_us = options->retry_delay_us};
    return rt_provider_create(&provider, &self->provider, why);
}

static rt_status create_disturbance(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    self->chosen = (rt_faults){
        .seed = options->seed,
        .tasks = options->tasks,
        .permille = {options->fail_permille, options->slow_permille, options->cancel_permille},
        .ramp = options->fault_ramp,
    };
    const bool faults = rt_faults_any(&self->chosen) || options->wait_mode != RT_WAIT_NONE ||
                        options->timeout_us > 0 || options->tenants > 1;
    self->disturbed = faults || options->yields > 0;
    if (faults && rt_tenants_create(&self->allocator, options->tenants, options->workers, &self->tenants) !=
                      RT_OK) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the accounts of %u tenants; choose fewer",
                       options->tenants);
    }
    return self->disturbed ? create_provider(self, why) : RT_OK;
}

/* ---- what follows the course of the run ---- */

static uint64_t period_ns(const rt_workload *self) {
    if (self->arrivals.steady_ms == 0) {
        return 0;
    }
    const uint64_t period = rt_arrivals_expected_ns(&self->arrivals, self->options.tasks) / PERIODS_EXPECTED;
    return period < SHORTEST_PERIOD_NS ? SHORTEST_PERIOD_NS
                                       : (period > LONGEST_PERIOD_NS ? LONGEST_PERIOD_NS : period);
}

static rt_status create_course(rt_workload *self) {
    const rt_workload_options *const options = &self->options;
    self->arrivals = (rt_arrivals_options){.seed = options->seed,
                                           .poisson = options->submission == RT_SUBMISSION_POISSON,
                                           .rate_per_s = options->rate_per_s,
                                           .steady_ms = options->steady_ms,
                                           .pause_ms = options->pause_ms,
                                           .burst_ms = options->burst_ms,
                                           .burst_factor = options->burst_factor};
    const rt_course_options course = {&self->allocator, options->workers, period_ns(self),
                                      RT_COURSE_MAX_PERIODS, ""};
    self->lateness = rt_allocate_owned(&self->allocator, RT_OWNER_HISTOGRAMS, 1, sizeof *self->lateness);
    if (self->lateness == NULL) {
        return RT_NO_MEMORY;
    }
    self->lateness->min_ns = UINT64_MAX;
    return rt_course_create(&course, &self->course);
}

static rt_status create_backlog(rt_workload *self) {
    const bool wanted = rt_workload_is_open(self) || self->options.outage_ms > 0;
    if (wanted || self->disturbed) {
        self->tallies =
            rt_allocate_lines(&self->allocator, self->options.workers + 1u, sizeof *self->tallies);
        if (self->tallies == NULL) {
            return RT_NO_MEMORY;
        }
    }
    return wanted ? rt_backlog_create(&self->allocator, BACKLOG_ROWS, &self->backlog) : RT_OK;
}

static rt_status create_batches(rt_workload *self) {
    const uint32_t rows = self->options.batches;
    self->batches =
        rt_allocate_owned(&self->allocator, RT_OWNER_VERIFICATION, rows, sizeof *self->batches);
    if (self->batches == NULL) {
        return RT_NO_MEMORY;
    }
    for (uint32_t i = 0; i < rows; i++) {
        self->batches[i].batch = 1; /* touched now, so that the rows are no growth between the batches */
    }
    for (uint64_t i = 0; i < self->options.tasks; i += PAGE_BYTES) {
        self->seen[i] = 0; /* nor is the proof that each task ran once: a byte a task, all of it now */
    }
    return RT_OK;
}

static rt_status create_records(rt_workload *self, rt_message *why) {
    rt_status status = rt_workload_is_open(self) ? create_course(self) : RT_OK;
    if (status == RT_OK) {
        status = create_backlog(self);
    }
    if (status == RT_OK && self->options.batches > 1) {
        status = create_batches(self);
    }
    return status == RT_OK ? RT_OK
                           : rt_fail(why, status, "no memory for the course of the run; free some and run again");
}

rt_status rt_workload_create_parts(rt_workload *self, rt_message *why) {
    static rt_status (*const steps[])(rt_workload *, rt_message *) = {
        create_body,    create_rollback,  create_tasks,    create_disturbance,
        create_records, create_scheduler, create_auxiliary};
    rt_status status = RT_OK;
    for (size_t i = 0; status == RT_OK && i < sizeof steps / sizeof *steps; i++) {
        status = steps[i](self, why);
    }
    return status;
}
