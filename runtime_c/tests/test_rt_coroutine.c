#include "rt_coroutine.h"

#include "check.h"

#include <execinfo.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
#define MANY 1000u /* ThreadSanitizer knows some 8,000 threads and fibers */
#elif defined(__SANITIZE_ADDRESS__)
#define MANY 10000u /* which clears a stack's marks whenever it is switched to */
#else
#define MANY 100000u
#endif

static rt_allocator allocator;
static rt_stack_pool *pool;

static rt_coroutine home; /* of the main thread */
static rt_coroutine *guest;

static rt_coroutine *start(rt_coroutine_entry entry, void *argument) {
    return rt_coroutine_make(rt_stack_pool_take(pool), entry, argument);
}

static void end(rt_coroutine *coroutine) { rt_stack_pool_give(pool, rt_coroutine_drop(coroutine)); }

/* ---- messages ---- */

static void answer_with_one_more(void *argument, void *message) {
    for (unsigned i = 0; i < 3; i++) {
        CHECK(argument == &allocator);
        message = rt_coroutine_switch(guest, &home, (void *)((uintptr_t)message + 1));
    }
    rt_coroutine_leave(guest, &home, (void *)((uintptr_t)message + 100));
}

static void each_switch_delivers_the_other_sides_message(void) {
    guest = start(answer_with_one_more, &allocator);
    CHECK_UINT(8, (uintptr_t)rt_coroutine_switch(&home, guest, (void *)7));
    CHECK_UINT(21, (uintptr_t)rt_coroutine_switch(&home, guest, (void *)20));
    CHECK_UINT(1, (uintptr_t)rt_coroutine_switch(&home, guest, NULL));
    CHECK_UINT(105, (uintptr_t)rt_coroutine_switch(&home, guest, (void *)5));
    end(guest);
}

/* ---- registers ---- */

typedef void (*between)(void);

static void nothing(void) {}
static void to_guest(void) { rt_coroutine_switch(&home, guest, NULL); }
static void to_home(void) { rt_coroutine_switch(guest, &home, NULL); }

/* More integers and doubles than a function can preserve without its registers, live across `pause`. */
static __attribute__((noinline)) double churn(uint64_t seed, between pause) {
    uint64_t a = seed + 1, b = seed + 2, c = seed + 3, d = seed + 4, e = seed + 5, f = seed + 6, g = seed + 7,
             h = seed + 8, i = seed + 9, j = seed + 10;
    double p = (double)a, q = (double)b, r = (double)c, s = (double)d, t = (double)e, u = (double)f,
           v = (double)g, w = (double)h;
    for (unsigned step = 0; step < 50; step++) {
        pause();
        a = a * 3 + j, b = b * 5 + a, c = c * 7 + b, d = d * 11 + c, e = e * 13 + d;
        f = f * 17 + e, g = g * 19 + f, h = h * 23 + g, i = i * 29 + h, j = j * 31 + i;
        p = p * 0.5 + w, q = q * 0.5 + p, r = r * 0.5 + q, s = s * 0.5 + r;
        t = t * 0.25 + s, u = u * 0.25 + t, v = v * 0.25 + u, w = w * 0.125 + v;
    }
    return p + q + r + s + t + u + v + w + (double)(a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j);
}

static void churn_as_guest(void *argument, void *message) {
    *(double *)argument = churn(1000, to_home);
    rt_coroutine_leave(guest, &home, message);
}

static void what_a_function_keeps_in_registers_survives_the_switch(void) {
    double of_guest = 0;
    guest = start(churn_as_guest, &of_guest);
    const double of_home = churn(1, to_guest);
    to_guest(); /* its 51st: the last step and the end */
    CHECK(of_home == churn(1, nothing));
    CHECK(of_guest == churn(1000, nothing));
    CHECK(of_home != of_guest);
    end(guest);
}

static void round_upward(void *argument, void *message) {
    (void)argument;
    CHECK_UINT(FE_TONEAREST, fegetround());
    fesetround(FE_UPWARD);
    message = rt_coroutine_switch(guest, &home, message);
    CHECK_UINT(FE_UPWARD, fegetround());
    rt_coroutine_leave(guest, &home, message);
}

/* A third, rounded by whatever the processor is set to: SSE or NEON, and x87 in long double. */
static bool is_rounded_upward(void) {
    volatile double one = 1, three = 3;
    volatile long double long_one = 1, long_three = 3;
    fesetround(FE_TONEAREST);
    const double nearest = one / three;
    const long double long_nearest = long_one / long_three;
    to_guest();
    return one / three != nearest || long_one / long_three != long_nearest;
}

static void the_rounding_mode_belongs_to_a_coroutine(void) {
    guest = start(round_upward, NULL);
    CHECK(!is_rounded_upward());
    CHECK_UINT(FE_TONEAREST, fegetround());
    to_guest();
    CHECK_UINT(FE_TONEAREST, fegetround());
    end(guest);
}

/* ---- depth ---- */

static uint64_t descend(uint64_t depth) {
    volatile uint64_t here[16] = {depth};
    if (depth > 0) {
        here[1] = descend(depth - 1);
    } else {
        to_home(); /* suspended with everything on the stack */
    }
    return here[0] + here[1];
}

static void descend_as_guest(void *argument, void *message) {
    (void)message;
    rt_coroutine_leave(guest, &home, (void *)(uintptr_t)descend(*(uint64_t *)argument));
}

/* 1 + 2 + … + 500 = 125,250; each level takes 160 bytes or more. */
static void a_deep_stack_survives_its_suspension(void) {
    uint64_t depth = 500;
    guest = start(descend_as_guest, &depth);
    rt_stack_bytes bytes;
    to_guest();
    rt_stack_pool_account(pool, &bytes);
    CHECK(bytes.committed_bytes > depth * 128);
    CHECK_UINT(125250, (uintptr_t)rt_coroutine_switch(&home, guest, NULL));
    end(guest);
}

static void trace(void *argument, void *message) {
    void *frames[64];
    *(int *)argument = backtrace(frames, 64);
    rt_coroutine_leave(guest, &home, message);
}

static void a_backtrace_ends_where_the_coroutine_began(void) {
    int frames = 0;
    guest = start(trace, &frames);
    to_guest();
    CHECK(frames >= 2 && frames <= 8);
    end(guest);
}

/* ---- many ---- */

typedef struct member {
    rt_coroutine *coroutine;
    uint64_t number, sum;
} member;

static void add_three_times(void *argument, void *message) {
    member *const self = argument;
    for (unsigned i = 0; i < 3; i++) {
        self->sum += self->number + (uintptr_t)message;
        message = rt_coroutine_switch(self->coroutine, &home, NULL);
    }
    rt_coroutine_leave(self->coroutine, &home, NULL);
}

/* On a kernel without light guards the growth ends at 16,000 stacks. */
static uint64_t start_members(member *members) {
    for (uint64_t i = 0; i < MANY; i++) {
        rt_stack *const stack = rt_stack_pool_take(pool);
        if (stack == NULL) {
            return i;
        }
        members[i].number = i;
        members[i].coroutine = rt_coroutine_make(stack, add_three_times, &members[i]);
        rt_coroutine_switch(&home, members[i].coroutine, NULL);
    }
    return MANY;
}

static void a_hundred_thousand_can_be_suspended_at_once(void) {
    member *const members = calloc(MANY, sizeof *members);
    const uint64_t count = start_members(members);
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(count == MANY || count > 15000);
    rt_stack_bytes bytes;
    rt_stack_pool_account(pool, &bytes);
    CHECK_UINT(count, bytes.live);
    CHECK(bytes.committed_bytes >= count * page_bytes);
#ifndef RT_COROUTINE_UCONTEXT
    CHECK(bytes.committed_bytes <= (count + 64) * page_bytes); /* a page each, and a few used before */
#endif
    for (uint64_t i = 0; i < 3 * count; i++) {
        const uint64_t place = count - 1 - i % count; /* backwards */
        rt_coroutine_switch(&home, members[place].coroutine, (void *)(uintptr_t)1);
    }
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        wrong += members[i].sum != 3 * i + 2;
        end(members[i].coroutine);
    }
    CHECK_UINT(0, wrong);
    rt_stack_pool_account(pool, &bytes);
    CHECK_UINT(0, bytes.live);
    free(members);
}

/* ---- threads ---- */

/* A coroutine that threads resume in turn. Not by pthread_self: the compiler reads that once a function. */
typedef struct traveller {
    rt_coroutine *coroutine;
    rt_coroutine *on; /* of the thread that it runs on */
    pthread_mutex_t lock;
    uint64_t moves;
} traveller;

static void travel(void *argument, void *message) {
    traveller *const self = argument;
    for (;;) {
        self->moves += self->on != message;
        self->on = message;
        message = rt_coroutine_switch(self->coroutine, self->on, NULL);
    }
}

static void *carry(void *argument) {
    traveller *const self = argument;
    rt_coroutine thread;
    rt_coroutine_adopt(&thread);
    for (unsigned i = 0; i < 1000; i++) {
        pthread_mutex_lock(&self->lock);
        rt_coroutine_switch(&thread, self->coroutine, &thread);
        pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

static void a_coroutine_goes_on_on_another_thread(void) {
    traveller self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[3];
    self.coroutine = start(travel, &self);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[i], NULL, carry, &self) == 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(self.moves >= 3); /* each thread at least once */
    end(self.coroutine);
}

/* Bug 13: a switch that ThreadSanitizer does not follow, or follows from an instrumented function, leaves its
 * shadow call stack of 64 Ki frames with calls that never return, or takes from it what it never put there.
 * 2,000 coroutines are dropped 100 calls deep, and 100,000 switches are made: without the annotations that
 * ends in a crash. */
static void bug13_calls_of_dropped_coroutines_do_not_pile_up(void) {
    uint64_t depth = 100;
    for (unsigned i = 0; i < 2000; i++) {
        guest = start(descend_as_guest, &depth);
        to_guest();
        end(guest);
    }
    traveller self = {.on = &home};
    self.coroutine = start(travel, &self);
    for (unsigned i = 0; i < 100000; i++) {
        rt_coroutine_switch(&home, self.coroutine, &home);
    }
    CHECK_UINT(0, self.moves);
    end(self.coroutine);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    if (rt_stack_pool_create(&allocator, 256u << 10, 16, &pool) != RT_OK) {
        return 2;
    }
    rt_coroutine_adopt(&home);
    each_switch_delivers_the_other_sides_message();
    what_a_function_keeps_in_registers_survives_the_switch();
    the_rounding_mode_belongs_to_a_coroutine();
    a_deep_stack_survives_its_suspension();
    a_backtrace_ends_where_the_coroutine_began();
    a_hundred_thousand_can_be_suspended_at_once();
    a_coroutine_goes_on_on_another_thread();
    bug13_calls_of_dropped_coroutines_do_not_pile_up();
    rt_stack_pool_destroy(pool);
    CHECK_UINT(0, atomic_load(&allocator.live_objects));
    return check_done();
}
