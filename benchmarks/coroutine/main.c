/* What a switch and a stack cost, ours beside ucontext. One task is one switch in one direction, or one
 * coroutine that is made, run to its end and given back. */
#include "measure.h"

#include "rt_coroutine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES 65536u

static rt_allocator allocator;
static rt_stack_pool *pool;
static rt_coroutine home;
static rt_coroutine *guest;

static void fail(const char *what) {
    fprintf(stderr, "coroutine-bench: %s\n", what);
    exit(1);
}

static rt_stack *take(void) {
    rt_stack *const stack = rt_stack_pool_take(pool);
    if (stack == NULL) {
        fail("there is no memory for a stack");
    }
    return stack;
}

/* ---- switches ---- */

static void switch_back(void *argument, void *message) {
    for (;;) {
        message = rt_coroutine_switch(guest, argument, message);
    }
}

static void run_switch(uint64_t tasks) {
    guest = rt_coroutine_make(take(), switch_back, &home);
    for (uint64_t i = 0; i < tasks; i += 2) {
        rt_coroutine_switch(&home, guest, NULL);
    }
    rt_stack_pool_give(pool, rt_coroutine_drop(guest));
}

static ucontext_t here, there;

static void swap_back(void) {
    for (;;) {
        swapcontext(&there, &here);
    }
}

static void run_ucontext(uint64_t tasks) {
    rt_stack *const stack = take();
    getcontext(&there);
    there.uc_stack.ss_sp = stack->low;
    there.uc_stack.ss_size = stack->bytes;
    makecontext(&there, swap_back, 0);
    for (uint64_t i = 0; i < tasks; i += 2) {
        swapcontext(&here, &there);
    }
    rt_stack_pool_give(pool, stack);
}

/* ---- stacks ---- */

static void leave_at_once(void *argument, void *message) { rt_coroutine_leave(guest, argument, message); }

static void run_pooled(uint64_t tasks) {
    rt_stack_cache cache = {.count = 0};
    for (uint64_t i = 0; i < tasks; i++) {
        guest = rt_coroutine_make(rt_stack_cache_take(&cache, pool), leave_at_once, &home);
        rt_coroutine_switch(&home, guest, NULL);
        rt_stack_cache_give(&cache, pool, rt_coroutine_drop(guest));
    }
    rt_stack_cache_empty(&cache, pool);
}

/* What a pool saves: a mapping of its own, with a guard, for each. */
static void run_mapped(uint64_t tasks) {
    for (uint64_t i = 0; i < tasks; i++) {
        char *const low = mmap(NULL, STACK_BYTES + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (low == MAP_FAILED || mprotect(low + 4096, STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
            fail("a stack could not be mapped");
        }
        rt_stack stack = {.low = low + 4096, .bytes = STACK_BYTES};
        guest = rt_coroutine_make(&stack, leave_at_once, &home);
        rt_coroutine_switch(&home, guest, NULL);
        rt_coroutine_drop(guest);
        munmap(low, STACK_BYTES + 4096);
    }
}

/* ---- suspended ---- */

static void run_suspended(uint64_t tasks, measure_outcome *outcome) {
    rt_coroutine **const all = calloc(tasks, sizeof(rt_coroutine *));
    memset(all, 0xff, tasks * sizeof(rt_coroutine *)); /* touched, so that it counts */
    const uint64_t before_bytes = measure_rss_anon_bytes();
    for (uint64_t i = 0; i < tasks; i++) {
        guest = all[i] = rt_coroutine_make(take(), switch_back, &home);
        rt_coroutine_switch(&home, guest, NULL);
    }
    outcome->backlog_bytes = measure_rss_anon_bytes() - before_bytes;
    for (uint64_t i = 0; i < tasks; i++) {
        rt_stack_pool_give(pool, rt_coroutine_drop(all[i]));
    }
    free(all);
}

static int run(const char *name, uint64_t tasks, measure_outcome *outcome) {
    if (strcmp(name, "switch") == 0) {
        run_switch(tasks);
    } else if (strcmp(name, "ucontext") == 0) {
        run_ucontext(tasks);
    } else if (strcmp(name, "pooled-stack") == 0) {
        run_pooled(tasks);
    } else if (strcmp(name, "mapped-stack") == 0) {
        run_mapped(tasks);
    } else if (strcmp(name, "suspended") == 0) {
        run_suspended(tasks, outcome);
    } else {
        return 2;
    }
    return 0;
}

int main(int count, char **values) {
    const uint64_t tasks = count == 3 ? strtoull(values[2], NULL, 10) : 0;
    measure_outcome outcome = {.tasks = tasks};
    rt_allocator_init(&allocator, 0);
    if (tasks == 0 || rt_stack_pool_create(&allocator, STACK_BYTES, 64, &pool) != RT_OK) {
        fail("usage: coroutine-bench switch|ucontext|pooled-stack|mapped-stack|suspended TASKS");
    }
    rt_coroutine_adopt(&home);
    const measure_usage before = measure_usage_read();
    const int status = run(values[1], tasks, &outcome);
    measure_usage_since(&before, &outcome);
    rt_stack_pool_destroy(pool);
    if (status == 0) {
        measure_print(&outcome);
    }
    return status;
}
