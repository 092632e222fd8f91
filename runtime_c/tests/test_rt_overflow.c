#include "rt_coroutine.h"
#include "rt_overflow.h"

#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static rt_allocator allocator;
static rt_stack_pool *pool;

/* A thread that runs coroutines of which some overflow. */
typedef struct host {
    rt_coroutine thread;
    rt_coroutine *guest;
    rt_stack *reported;
    rt_overflow_thread overflow;
} host;

static volatile char sink;
static volatile uint64_t bottom = UINT64_MAX; /* never reached */

/* Without an end. The write keeps the frame and the call. */
static __attribute__((noinline)) uint64_t sink_deeper(uint64_t depth) {
    volatile char frame[512];
    frame[depth % sizeof frame] = (char)depth;
    const uint64_t below = depth == bottom ? 0 : sink_deeper(depth + 1);
    sink = frame[0];
    return below + 1;
}

/* A frame larger than the guard, of which only the far end would be touched. */
static __attribute__((noinline)) void reach_over_the_guard(void *argument, void *message) {
    (void)message;
    host *const self = argument;
    volatile char frame[128u << 10];
    frame[self->thread.stack == NULL ? 0 : 1] = 1;
    sink = frame[0];
    rt_coroutine_leave(self->guest, &self->thread, NULL);
}

static void overflow(void *argument, void *message) {
    (void)message;
    host *const self = argument;
    rt_coroutine_leave(self->guest, &self->thread, (void *)(uintptr_t)sink_deeper(0));
}

static void return_at_once(void *argument, void *message) {
    host *const self = argument;
    rt_coroutine_leave(self->guest, &self->thread, message);
}

static void recover(void *context, rt_stack *overflown) {
    host *const self = context;
    self->reported = overflown;
    rt_coroutine_leave(self->guest, &self->thread, self);
}

/* Checks nothing itself: it runs on other threads too. */
static bool enter(host *self) {
    *self = (host){.overflow = {&allocator, pool, recover, self, NULL, NULL, 0, 0}};
    rt_coroutine_adopt(&self->thread);
    return rt_overflow_watch(NULL) == RT_OK && rt_overflow_enter_thread(&self->overflow) == RT_OK;
}

static void leave(host *self) {
    rt_overflow_leave_thread(&self->overflow);
    rt_overflow_unwatch();
}

/* The answer of the coroutine, or NULL when another stack was reported than the one that it ran on. */
static void *run(host *self, rt_coroutine_entry entry, void *message) {
    rt_stack *const stack = rt_stack_pool_take(pool);
    self->reported = NULL;
    self->guest = rt_coroutine_make(stack, entry, self);
    void *const answer = rt_coroutine_switch(&self->thread, self->guest, message);
    const bool right = self->reported == (entry == return_at_once ? NULL : stack);
    rt_stack_pool_give(pool, rt_coroutine_drop(self->guest));
    return right ? answer : NULL;
}

static void an_overflow_is_handed_to_the_recovery_and_the_stack_is_good_again(void) {
    host self;
    CHECK(enter(&self));
    for (unsigned i = 0; i < 20; i++) {
        CHECK(run(&self, overflow, NULL) == &self);
        CHECK(run(&self, return_at_once, &allocator) == &allocator);
    }
    leave(&self);
}

/* Everything of ours is built with -fstack-clash-protection: a large frame touches each of its pages. */
static void a_frame_larger_than_the_guard_does_not_reach_the_next_stack(void) {
    host self;
    CHECK(enter(&self));
    rt_stack *const below = rt_stack_pool_take(pool); /* of the same slab: one of the two lies lower */
    rt_stack *const above = rt_stack_pool_take(pool);
    memset(below->low, 7, below->bytes);
    memset(above->low, 7, above->bytes);
    CHECK(run(&self, reach_over_the_guard, NULL) == &self);
    int changed = 0;
    for (size_t i = 0; i < below->bytes; i++) {
        changed += (below->low[i] != 7) + (above->low[i] != 7);
    }
    CHECK(changed == 0);
    rt_stack_pool_give(pool, below);
    rt_stack_pool_give(pool, above);
    leave(&self);
}

static void *overflow_on_a_thread(void *argument) {
    (void)argument;
    host self;
    const bool entered = enter(&self);
    uintptr_t recovered = 0;
    for (unsigned i = 0; i < 20 && entered; i++) {
        recovered += run(&self, overflow, NULL) == &self;
    }
    leave(&self);
    return (void *)recovered;
}

static void threads_recover_apart_from_each_other(void) {
    pthread_t threads[3];
    for (unsigned i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[i], NULL, overflow_on_a_thread, NULL) == 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        void *recovered;
        pthread_join(threads[i], &recovered);
        CHECK_UINT(20, (uintptr_t)recovered);
    }
}

/* ---- other faults, in children ---- */

static void leave_with_77(int number) {
    (void)number;
    _exit(77);
}

static void write_where_nothing_may(void) {
    volatile char *const page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
}

/* The wait status of a child that does this after entering. */
static int status_of(void (*before)(void), void (*fault)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        before();
        host self;
        if (enter(&self)) {
            fault();
        }
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void handle_by_leaving(void) { signal(SIGSEGV, leave_with_77); }
static void handle_by_default(void) { signal(SIGSEGV, SIG_DFL); }
static void send_the_signal(void) { raise(SIGSEGV); }

static void unwatch_then_fault(void) {
    rt_overflow_unwatch();
    write_where_nothing_may();
}

static void every_other_fault_goes_where_it_went_before(void) {
    CHECK_UINT(77, WEXITSTATUS(status_of(handle_by_leaving, write_where_nothing_may)));
    CHECK_UINT(77, WEXITSTATUS(status_of(handle_by_leaving, send_the_signal)));
    CHECK_UINT(77, WEXITSTATUS(status_of(handle_by_leaving, unwatch_then_fault)));
    CHECK_UINT(SIGSEGV, WTERMSIG(status_of(handle_by_default, write_where_nothing_may)));
    CHECK_UINT(SIGSEGV, WTERMSIG(status_of(handle_by_default, send_the_signal)));
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    if (rt_stack_pool_create(&allocator, 64u << 10, 4, &pool) != RT_OK) {
        return 2;
    }
    every_other_fault_goes_where_it_went_before();
    an_overflow_is_handed_to_the_recovery_and_the_stack_is_good_again();
    a_frame_larger_than_the_guard_does_not_reach_the_next_stack();
    threads_recover_apart_from_each_other();
    rt_stack_pool_destroy(pool);
    CHECK_UINT(0, atomic_load(&allocator.live_objects));
    return check_done();
}
