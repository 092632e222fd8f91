/* A scheduler whose runner can be stopped at a chosen task, and which notes the order of the tasks. */
#ifndef SCHEDULER_FIXTURE_H
#define SCHEDULER_FIXTURE_H

#include "rt_scheduler.h"

#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FIXTURE_TASKS 20000u
#define NOBODY UINT64_MAX

typedef struct fixture {
    rt_allocator allocator;
    rt_scheduler_options options;
    rt_scheduler *scheduler;
    rt_task *tasks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t blocked_id; /* this task's runner waits until it is somebody else's turn; NOBODY: none */
    uint64_t order[FIXTURE_TASKS];
    uint64_t entered;
    uint32_t running, running_peak;
    rt_status (*answer)(rt_task_run *run); /* what the runner returns; NULL: RT_OK */
    _Atomic uint64_t finished, released;
} fixture;

static inline rt_status fixture_run(void *context, rt_task_run *run) {
    fixture *const self = context;
    pthread_mutex_lock(&self->lock);
    self->order[self->entered++] = run->task_id;
    self->running++;
    self->running_peak = self->running > self->running_peak ? self->running : self->running_peak;
    pthread_cond_broadcast(&self->changed);
    while (self->blocked_id == run->task_id) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    self->running--;
    pthread_mutex_unlock(&self->lock);
    return self->answer == NULL ? RT_OK : self->answer(run);
}

static inline void fixture_finished(void *context, const rt_task *task, uint64_t finalised_ns,
                                    uint32_t worker) {
    (void)task, (void)finalised_ns, (void)worker;
    atomic_fetch_add(&((fixture *)context)->finished, 1);
}

static inline void fixture_released(void *context, rt_task *const *tasks, size_t count) {
    (void)tasks;
    atomic_fetch_add(&((fixture *)context)->released, count);
}

/* Prepares options; change them before fixture_start. */
static inline void fixture_init(fixture *self, uint32_t workers) {
    memset(self, 0, sizeof *self);
    rt_allocator_init(&self->allocator, 0);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->blocked_id = NOBODY;
    self->tasks = calloc(FIXTURE_TASKS, sizeof *self->tasks);
    self->options = (rt_scheduler_options){.allocator = &self->allocator,
                                           .hooks = {self, fixture_run, fixture_finished, fixture_released},
                                           .workers = workers,
                                           .max_active = RT_SCHEDULER_MAX_WORKERS,
                                           .queue_limit = 1u << 20,
                                           .history_limit_tasks = 64,
                                           .history_limit_bytes = 1u << 20,
                                           .output_capacity_bytes = 64};
}

static inline void fixture_start(fixture *self) {
    rt_message why = {""};
    const rt_status status = rt_scheduler_create(&self->options, &self->scheduler, &why);
    CHECK_TEXT("", why.text);
    CHECK_UINT(RT_OK, status);
    if (status != RT_OK) {
        exit(check_done());
    }
}

static inline void fixture_end(fixture *self) {
    rt_scheduler_destroy(self->scheduler);
    CHECK_UINT(0, self->allocator.live_objects);
    free(self->tasks);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

/* Submits tasks first .. first+count-1 of one priority in one call. */
static inline rt_status fixture_submit(fixture *self, uint64_t first, uint64_t count, uint8_t priority,
                                       size_t *admitted) {
    rt_task **const tasks = calloc(count, sizeof(rt_task *));
    const rt_clock *const clock = self->options.clock != NULL ? self->options.clock : &rt_clock_machine;
    for (uint64_t i = 0; i < count; i++) {
        tasks[i] = &self->tasks[first + i];
        *tasks[i] = (rt_task){.id = first + i, .priority = priority, .submitted_ns = rt_clock_now_ns(clock)};
    }
    const rt_status status = rt_scheduler_submit_many(self->scheduler, tasks, count, admitted);
    free(tasks);
    return status;
}

static inline void fixture_block(fixture *self, uint64_t id) {
    pthread_mutex_lock(&self->lock);
    self->blocked_id = id;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* Waits until `count` runners were entered. */
static inline void fixture_await_entered(fixture *self, uint64_t count) {
    pthread_mutex_lock(&self->lock);
    while (self->entered < count) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

static inline rt_scheduler_counts fixture_counts(fixture *self) {
    rt_scheduler_counts counts;
    rt_scheduler_count(self->scheduler, &counts);
    return counts;
}

static inline void fixture_await_idle(fixture *self) {
    CHECK_UINT(RT_OK, rt_scheduler_wait_idle(self->scheduler, RT_SCHEDULER_FOREVER));
}

/* A clock that moves by one nanosecond a read: every task seems short, so batches are full ones at once. */
static inline uint64_t fixture_tick(void *context) {
    return atomic_fetch_add((_Atomic uint64_t *)context, 1);
}

/* Starts with nothing running and batches that are full at once. `clock` has fixture_tick and a counter of
 * its own. */
static inline void fixture_start_with_full_batches(fixture *self, uint32_t workers, const rt_clock *clock) {
    fixture_init(self, workers);
    self->options.clock = clock;
    fixture_start(self);
    CHECK_UINT(RT_OK, fixture_submit(self, FIXTURE_TASKS - 100, 100, 0, NULL));
    fixture_await_idle(self);
    self->entered = 0;
}

#endif
