/* Life of a run: options, create, execute, destroy. */
#include "rt_workload_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TASKS (UINT64_C(1) << 40)
#define MAX_RATE_PER_S UINT64_C(1000000000)

static const char *const submission_names[] = {"closed", "paced"};
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
                                     .runner = RT_RUNNER_PROBES};
}

/* What the parts do not check themselves. */
static rt_status check_options(const rt_workload_options *options, rt_message *why) {
    const bool closed = options->submission == RT_SUBMISSION_CLOSED;
    if (options->tasks == 0 || options->tasks > MAX_TASKS) {
        return rt_fail(why, RT_INVALID, "tasks is %llu; choose 1 to %llu", (unsigned long long)options->tasks,
                       (unsigned long long)MAX_TASKS);
    }
    if (closed && (options->window == 0 || options->rate_per_s != 0)) {
        return rt_fail(why, RT_INVALID,
                       "a closed loop needs a window of 1 or more and no rate; window is %u, rate_per_s %llu",
                       options->window, (unsigned long long)options->rate_per_s);
    }
    if (!closed &&
        (options->window != 0 || options->rate_per_s == 0 || options->rate_per_s > MAX_RATE_PER_S)) {
        return rt_fail(
            why, RT_INVALID,
            "a paced run needs a rate of 1 to %llu a second and no window; rate_per_s is %llu, window %u",
            (unsigned long long)MAX_RATE_PER_S, (unsigned long long)options->rate_per_s, options->window);
    }
    if (options->workers == 0 || options->workers > RT_SCHEDULER_MAX_WORKERS) {
        return rt_fail(why, RT_INVALID, "workers is %u; choose 1 to %u", options->workers,
                       RT_SCHEDULER_MAX_WORKERS);
    }
    if (options->aux_workers > RT_SCHEDULER_MAX_WORKERS) {
        return rt_fail(why, RT_INVALID, "aux_workers is %u; choose 0 to %u", options->aux_workers,
                       RT_SCHEDULER_MAX_WORKERS);
    }
    return RT_OK;
}

/* ---- what the scheduler calls ---- */

static rt_status run_probes(void *context, rt_task_run *run) {
    return rt_task_body_run(((rt_workload *)context)->body, run);
}

static rt_status run_nothing(void *context, rt_task_run *run) {
    (void)context;
    (void)run;
    return RT_OK;
}

static void mark_seen(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    (void)finalised_ns;
    (void)worker;
    rt_workload *const self = context;
    atomic_fetch_add_explicit(&self->seen[task->id], 1, memory_order_relaxed);
}

static void recycle(void *context, rt_task *const *tasks, size_t count) {
    rt_task_pool_give(((rt_workload *)context)->pool, tasks, count);
}

/* ---- create and destroy ---- */

static rt_status create_scheduler(rt_workload *self, rt_message *why) {
    const rt_workload_options *const options = &self->options;
    const bool probes = options->runner == RT_RUNNER_PROBES;
    const rt_scheduler_options scheduler = {
        .allocator = &self->allocator,
        .clock = self->clock,
        .start_thread = options->start_thread,
        .hooks = {self, probes ? run_probes : run_nothing, mark_seen, recycle},
        .workers = options->workers,
        .max_active = options->max_active,
        .queue_limit = options->queue_limit,
        .history_limit_tasks = options->history_limit_tasks,
        .history_limit_bytes = options->history_limit_bytes,
        .output_capacity_bytes = options->output_bytes,
    };
    return rt_scheduler_create(&scheduler, &self->scheduler, why);
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
                                       .output_bytes = options->output_bytes};
    return rt_task_body_create(&body, &self->body, why);
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

static rt_status create_parts(rt_workload *self, rt_message *why) {
    rt_status status = create_body(self, why);
    if (status == RT_OK) {
        status = create_tasks(self, why);
    }
    if (status == RT_OK) {
        status = create_scheduler(self, why);
    }
    if (status == RT_OK) {
        status = create_auxiliary(self, why);
    }
    return status;
}

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
    status = create_parts(self, why);
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
    rt_free_lines(&self->allocator, (void *)self->seen);
    rt_free_lines(&self->allocator, self->histograms);
    rt_task_body_destroy(self->body);
    free(self);
}

/* ---- execute ---- */

void rt_workload_request_stop(rt_workload *self) { atomic_store(&self->stop_requested, 1); }

static rt_status drain(rt_workload *self) {
    rt_status status = RT_TIMED_OUT;
    while (status == RT_TIMED_OUT) {
        if (rt_workload_must_stop(self) && !self->stopped) {
            self->stopped = true;
            rt_scheduler_abandon(self->scheduler);
        }
        status = rt_scheduler_wait_idle(self->scheduler,
                                        self->stopped ? RT_SCHEDULER_FOREVER : UINT64_C(20000000));
    }
    return status;
}

static rt_status submit_and_drain(rt_workload *self) {
    const rt_status submitted = rt_workload_submit_all(self);
    if (submitted != RT_OK && submitted != RT_STOPPED) {
        rt_scheduler_abandon(self->scheduler);
    }
    self->ended_in = submitted == RT_STOPPED ? RT_PHASE_SUBMIT : RT_PHASE_DRAIN;
    atomic_store(&self->phase, RT_PHASE_DRAIN);
    const rt_status drained = drain(self);
    if (!self->stopped) {
        self->ended_in = RT_PHASE_FINISHED;
    }
    return submitted != RT_OK && submitted != RT_STOPPED ? submitted : drained;
}

rt_status rt_workload_execute(rt_workload *self, rt_message *why) {
    int setup = RT_PHASE_SETUP;
    if (!atomic_compare_exchange_strong(&self->phase, &setup, RT_PHASE_SUBMIT)) {
        return rt_fail(why, RT_BUSY, "this run was executed already; create another");
    }
    self->started_at_s = rt_clock_wall_s(self->clock);
    atomic_store(&self->started_ns, rt_clock_now_ns(self->clock));
    const rt_status status = submit_and_drain(self);
    atomic_store(&self->finished_ns, rt_clock_now_ns(self->clock));
    atomic_store(&self->phase, RT_PHASE_FINISHED);
    if (status != RT_OK) {
        return rt_fail(why, status, "the run broke off: %s", rt_status_text(status));
    }
    return self->stopped ? rt_fail(why, RT_STOPPED, "the run was stopped on request") : RT_OK;
}
