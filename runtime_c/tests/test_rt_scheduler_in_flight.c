/* The integral of the tasks in flight: kept from counts at each of their changes, and equal to what the tasks'
 * own times add up to. */
#include "rt_scheduler.h"

#include "check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TASKS 3000u

static _Atomic uint64_t time_ns; /* sum over the tasks, from admission to finalisation */

static rt_status run(void *context, rt_task_run *task) {
    (void)context;
    return task->task_id % 3 == 0 ? rt_task_sleep(task, 50000) : RT_OK;
}

static void add_time(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    (void)context;
    (void)worker;
    atomic_fetch_add(&time_ns, finalised_ns - task->admitted_ns);
}

/* Both sides come from the same readings of the clock, so they agree to the precision of a double. */
static void check_that_the_books_agree(uint32_t stack_bytes) {
    rt_allocator allocator;
    rt_message why = {""};
    rt_scheduler *scheduler;
    rt_scheduler_counts counts;
    rt_task *const tasks = calloc(TASKS, sizeof *tasks);
    rt_allocator_init(&allocator, 0);
    atomic_store(&time_ns, 0);
    const rt_scheduler_options options = {.allocator = &allocator,
                                          .hooks = {NULL, run, add_time, NULL},
                                          .workers = 3,
                                          .max_active = 3,
                                          .queue_limit = TASKS,
                                          .stack_bytes = stack_bytes};
    CHECK_UINT(RT_OK, rt_scheduler_create(&options, &scheduler, &why));
    for (uint32_t i = 0; i < TASKS; i++) {
        tasks[i].id = i;
        CHECK_UINT(RT_OK, rt_scheduler_submit(scheduler, &tasks[i]));
    }
    CHECK_UINT(RT_OK, rt_scheduler_wait_idle(scheduler, RT_SCHEDULER_FOREVER));
    rt_scheduler_count(scheduler, &counts);
    CHECK_UINT(TASKS, counts.completed);
    const double expected_s = (double)atomic_load(&time_ns) / 1e9;
    CHECK(expected_s > 0 && fabs(counts.in_flight_s - expected_s) <= expected_s * 1e-9);
    rt_scheduler_destroy(scheduler);
    free(tasks);
}

int main(void) {
    check_that_the_books_agree(0);
    check_that_the_books_agree(32768);
    return check_done();
}
