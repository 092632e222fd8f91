#include "rt_task_pool.h"

#include "check.h"

static rt_allocator allocator;

static void tasks_are_distinct_until_the_pool_is_empty(void) {
    rt_task_pool *pool;
    rt_task *tasks[12];
    CHECK_UINT(RT_OK, rt_task_pool_create(&allocator, 10, &pool));
    CHECK_UINT(4, rt_task_pool_take(pool, tasks, 4));
    CHECK_UINT(6, rt_task_pool_take(pool, tasks + 4, 8));
    CHECK_UINT(0, rt_task_pool_take(pool, tasks, 1));
    for (unsigned a = 0; a < 10; a++) {
        for (unsigned b = 0; b < a; b++) {
            CHECK(tasks[a] != tasks[b]);
        }
    }
    rt_task_pool_give(pool, tasks, 10);
    rt_task_pool_destroy(pool);
}

static void the_last_given_back_is_taken_first(void) {
    rt_task_pool *pool;
    rt_task *tasks[3];
    rt_task *again[4];
    CHECK_UINT(RT_OK, rt_task_pool_create(&allocator, 4, &pool));
    CHECK_UINT(3, rt_task_pool_take(pool, tasks, 3));
    rt_task_pool_give(pool, tasks, 3);
    CHECK_UINT(4, rt_task_pool_take(pool, again, 4));
    CHECK(again[0] == tasks[2] && again[1] == tasks[1] && again[2] == tasks[0]);
    rt_task_pool_give(pool, again, 4);
    rt_task_pool_destroy(pool);
}

static void a_task_is_one_cache_line(void) {
    rt_task_pool *pool;
    rt_task *task;
    CHECK_UINT(RT_LINE_BYTES, sizeof(rt_task));
    CHECK_UINT(RT_OK, rt_task_pool_create(&allocator, 4, &pool));
    CHECK_UINT(1, rt_task_pool_take(pool, &task, 1));
    CHECK_UINT(0, (uintptr_t)task % RT_LINE_BYTES);
    CHECK_UINT(4 * (sizeof(rt_task) + sizeof(rt_task *)) + 2 * sizeof(void *), rt_task_pool_bytes(pool));
    rt_task_pool_destroy(pool);
}

static void no_memory_leaves_nothing_behind(void) {
    for (uint64_t fail_at = 1; fail_at <= 5; fail_at++) {
        rt_allocator failing;
        rt_task_pool *pool;
        rt_allocator_init(&failing, fail_at);
        CHECK_UINT(RT_NO_MEMORY, rt_task_pool_create(&failing, 10, &pool));
        CHECK(pool == NULL);
        CHECK_UINT(0, failing.live_objects);
    }
}

/* 100,000 tasks are four slabs: more are allocated as they are taken, and each goes round. */
static void tasks_are_allocated_as_they_are_taken(void) {
    enum { TASKS = 100000 };
    static rt_task *tasks[TASKS], *again[TASKS];
    rt_task_pool *pool;
    CHECK_UINT(RT_OK, rt_task_pool_create(&allocator, TASKS, &pool));
    const uint64_t at_first = rt_task_pool_bytes(pool);
    CHECK(at_first < TASKS / 2 * sizeof(rt_task));
    CHECK_UINT(TASKS, rt_task_pool_take(pool, tasks, TASKS));
    CHECK_UINT(0, rt_task_pool_take(pool, again, 1));
    CHECK(rt_task_pool_bytes(pool) > TASKS * sizeof(rt_task));
    for (uint64_t i = 0; i < TASKS; i++) {
        tasks[i]->id = i;
    }
    rt_task_pool_give(pool, tasks, TASKS);
    CHECK_UINT(TASKS, rt_task_pool_take(pool, again, TASKS));
    for (uint64_t i = 0; i < TASKS; i++) {
        CHECK_UINT(TASKS - 1 - i, again[i]->id); /* every one of them, the last first */
    }
    rt_task_pool_give(pool, again, TASKS);
    rt_task_pool_destroy(pool);
}

static void without_memory_for_more_fewer_are_given(void) {
    rt_allocator failing;
    rt_task_pool *pool;
    static rt_task *tasks[100000];
    rt_allocator_init(&failing, 6); /* the pool, two tables and two blocks of the first slab succeed */
    CHECK_UINT(RT_OK, rt_task_pool_create(&failing, 100000, &pool));
    const size_t taken = rt_task_pool_take(pool, tasks, 100000);
    CHECK(taken > 0 && taken < 100000);
    CHECK_UINT(0, rt_task_pool_take(pool, tasks + taken, 1));
    rt_task_pool_give(pool, tasks, taken);
    CHECK_UINT(taken, rt_task_pool_take(pool, tasks, 100000));
    rt_task_pool_give(pool, tasks, taken);
    rt_task_pool_destroy(pool);
    CHECK_UINT(0, failing.live_objects);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    tasks_are_distinct_until_the_pool_is_empty();
    the_last_given_back_is_taken_first();
    a_task_is_one_cache_line();
    no_memory_leaves_nothing_behind();
    tasks_are_allocated_as_they_are_taken();
    without_memory_for_more_fewer_are_given();
    rt_task_pool_destroy(NULL);
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
