/* Seeded random schedules: submit, cancel, yield, sleep, deadline, overflow, hold, abandon and the end, from three
 * sides at once, on worker stacks and on pooled ones. Whatever races, every admitted task ends exactly once, and the counts
 * agree with what the hooks saw. Where somebody cancels all the time, some sleeps are of a minute.
 * A failure names its seed; run it alone with the seed as argument. */
#include "rt_random.h"
#include "rt_scheduler.h"

#include "check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TASKS 96u
#ifdef __SANITIZE_THREAD__
#define SCHEDULES 400u
#else
#define SCHEDULES 2000u
#endif

typedef struct world {
    uint64_t seed;
    rt_allocator allocator;
    rt_scheduler *scheduler;
    rt_task tasks[TASKS];
    /* What the hooks saw, by task. */
    _Atomic uint32_t entered[TASKS], finished[TASKS], released[TASKS], status[TASKS], never_ran[TASKS];
    _Atomic bool admitted[TASKS];
    _Atomic bool stops;    /* the canceller */
    _Atomic uint32_t next; /* first task that nobody has submitted */
    bool pooled, abandoned, destroyed;
    uint64_t broken; /* counts that did not add up */
} world;

static world w;

/* Over all schedules: a kind of event that never came would not have been tested. */
static rt_scheduler_counts total;
static uint64_t taken_back, never_ran, overflown;

static uint64_t draw(uint64_t id, uint64_t step, uint64_t bound) {
    return rt_random_scale(rt_random_mix(w.seed * 1000003u + id * 101u + step), bound);
}

/* In half of the schedules nobody cancels all the time: nothing but the timers ends a sleep there. */
static bool has_canceller(void) { return w.seed % 2 == 0; }

static void submit_next(unsigned count) {
    rt_task *tasks[8];
    const uint32_t first = atomic_fetch_add(&w.next, count);
    unsigned ready = 0;
    for (unsigned i = 0; i < count && first + i < TASKS; i++) {
        tasks[ready++] = &w.tasks[first + i];
    }
    size_t admitted = 0;
    for (unsigned i = 0; i < ready; i++) { /* a hook may see it before the call returns */
        atomic_store(&w.admitted[first + i], true);
    }
    if (ready > 0) {
        rt_scheduler_submit_many(w.scheduler, tasks, ready, &admitted);
    }
    for (size_t i = admitted; i < ready; i++) {
        atomic_store(&w.admitted[first + i], false);
    }
}

static void cancel_one(uint64_t id) { rt_scheduler_cancel(w.scheduler, &w.tasks[id], id); }

/* Touches every page on its way down, until there is none left. */
static __attribute__((noinline)) unsigned dig(unsigned depth) {
    volatile unsigned char page[2048];
    page[0] = (unsigned char)depth;
    page[2047] = page[0];
    return depth == 0 ? page[2047] : dig(depth - 1) + page[0];
}

/* One step of a runner. */
static rt_status act(rt_task_run *run, uint64_t step) {
    const uint64_t id = run->task_id;
    switch (draw(id, 10 + step, 8)) {
    case 0:
    case 1:
        return rt_task_yield(run);
    case 2:
    case 3:
        return rt_task_sleep(run, draw(id, 20 + step, 60000) *
                                      (has_canceller() && draw(id, 40 + step, 16) == 0 ? 1000000 : 1));
    case 4:
        return step % 2 == 0 ? rt_task_poll(run) : rt_task_block(run, draw(id, 50 + step, 60000));
    case 5:
        submit_next(1);
        return RT_OK;
    case 6:
        cancel_one(draw(id, 30 + step, TASKS));
        return RT_OK;
    default:
        return w.pooled && draw(id, 60 + step, 8) == 0 && dig(1000000) == 1 ? RT_FAILED : RT_OK;
    }
}

static rt_status run_task(void *context, rt_task_run *run) {
    const uint64_t id = run->task_id;
    const bool obeys = draw(id, 1, 8) != 0; /* some runners do not listen */
    (void)context;
    atomic_fetch_add(&w.entered[id], 1);
    const uint64_t steps = draw(id, 2, 6);
    for (uint64_t step = 0; step < steps; step++) {
        const rt_status status = act(run, step);
        if (status != RT_OK && obeys) {
            return status;
        }
    }
    run->output[0] = (uint8_t)id;
    run->output_bytes = 1;
    return draw(id, 3, 10) == 0 ? RT_FAILED : RT_OK;
}

static void finish(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    (void)context, (void)finalised_ns;
    atomic_fetch_add(&w.finished[task->id], 1);
    atomic_store(&w.status[task->id], task->status);
    atomic_store(&w.never_ran[task->id], worker == UINT32_MAX);
}

static void release(void *context, rt_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        atomic_fetch_add(&w.released[tasks[i]->id], 1);
    }
}

static void begin(uint64_t seed) {
    static const uint32_t worker_choices[] = {1, 2, 3, 4, 8};
    memset(&w, 0, sizeof w);
    w.seed = seed;
    rt_allocator_init(&w.allocator, 0);
    for (uint64_t id = 0; id < TASKS; id++) {
        const uint64_t now_ns = rt_clock_monotonic_ns();
        const uint64_t limit_ns = draw(id, 4, 4) == 0 ? 1 + draw(id, 5, 300000) : 0;
        w.tasks[id] = (rt_task){.id = id,
                                .submitted_ns = now_ns,
                                .deadline_ns = limit_ns > 0 ? now_ns + limit_ns : 0,
                                .priority = (uint8_t)draw(id, 6, 3)};
    }
    w.pooled = draw(TASKS, 5, 3) != 0;
    const rt_scheduler_options options = {.allocator = &w.allocator,
                                          .hooks = {NULL, run_task, finish, release},
                                          .workers = worker_choices[draw(TASKS, 1, 5)],
                                          .max_active = draw(TASKS, 2, 3) == 0 ? 2 : 1024,
                                          .queue_limit = draw(TASKS, 3, 3) == 0 ? 20 : 1000,
                                          .history_limit_tasks = draw(TASKS, 4, 2) * 10,
                                          .history_limit_bytes = 1000,
                                          .output_capacity_bytes = 16,
                                          .stack_bytes = w.pooled ? 65536 : 0,
                                          .max_suspended = draw(TASKS, 6, 3) == 0 ? 3 : 0,
                                          .contention_sample_every = (uint32_t)draw(TASKS, 7, 3)};
    CHECK_UINT(RT_OK, rt_scheduler_create(&options, &w.scheduler, NULL));
}

static void poll_counts(void) {
    rt_scheduler_counts c;
    rt_scheduler_count(w.scheduler, &c);
    w.broken += c.submitted != c.admitted + c.rejected;
    w.broken += c.admitted != c.completed + c.failed + c.cancelled + c.timed_out + c.queued + c.active +
                                  c.suspended + c.ended;
    w.broken += c.queued > c.queue_peak || c.queued > TASKS || c.ended > TASKS || c.suspended > TASKS;
}

static void *cancel_and_poll(void *argument) {
    (void)argument;
    for (uint64_t step = 0; has_canceller() && !atomic_load(&w.stops); step++) {
        cancel_one(draw(TASKS + 1, step, TASKS));
        sched_yield();
    }
    return NULL;
}

static void steer(uint64_t step) {
    switch (draw(TASKS + 2, step, 10)) {
    case 0:
        rt_scheduler_hold(w.scheduler);
        break;
    case 1:
    case 2:
        rt_scheduler_release(w.scheduler);
        break;
    case 3:
        cancel_one(draw(TASKS + 3, step, TASKS));
        break;
    case 4:
        rt_scheduler_wait_in_flight(w.scheduler, draw(TASKS + 4, step, 10), 20000);
        break;
    case 5:
        poll_counts();
        break;
    default:
        submit_next(1 + (unsigned)draw(TASKS + 5, step, 8));
    }
}

static void check_task(uint64_t id) {
    const uint32_t finished = w.finished[id];
    never_ran += w.never_ran[id];
    const bool may_be_taken_back = w.abandoned || w.destroyed;
    CHECK_UINT(finished, w.released[id]);
    CHECK(w.entered[id] <= 1 && finished <= 1);
    if (!w.admitted[id]) {
        CHECK_UINT(0, w.entered[id] + finished);
    } else if (w.entered[id] == 1) {
        CHECK_UINT(1, finished);
        CHECK_UINT(0, w.never_ran[id]);
    } else {
        CHECK(finished == 1 || may_be_taken_back);
        CHECK(finished == 0 || w.never_ran[id] == 1);
        CHECK(finished == 0 || w.status[id] == RT_CANCELLED || w.status[id] == RT_TIMED_OUT);
    }
}

static void check_sums(void) {
    rt_scheduler_counts c;
    uint64_t admitted = 0, by_status[RT_STATUS_COUNT] = {0}, finished = 0;
    for (uint64_t id = 0; id < TASKS; id++) {
        admitted += w.admitted[id];
        finished += w.finished[id];
        by_status[w.status[id]] += w.finished[id];
    }
    rt_scheduler_count(w.scheduler, &c);
    CHECK_UINT(admitted, c.admitted);
    CHECK_UINT(by_status[RT_OK], c.completed);
    CHECK_UINT(by_status[RT_FAILED] + by_status[RT_STACK_OVERFLOW], c.failed);
    CHECK_UINT(by_status[RT_TIMED_OUT], c.timed_out);
    CHECK_UINT(by_status[RT_CANCELLED] + admitted - finished, c.cancelled);
    CHECK(w.abandoned || admitted == finished);
    total.completed += c.completed;
    total.failed += c.failed;
    total.cancelled += c.cancelled;
    total.timed_out += c.timed_out;
    total.rejected += c.rejected;
    total.suspensions += c.suspensions;
    total.yields += c.yields;
    taken_back += admitted - finished;
    overflown += by_status[RT_STACK_OVERFLOW];
    CHECK_UINT(0, c.queued + c.active + c.suspended + c.ended);
}

static void end(pthread_t canceller) {
    const uint64_t how = draw(TASKS + 6, 0, 4); /* 0: destroyed at once, 1: abandoned, else drained */
    w.abandoned = how == 1;
    w.destroyed = how == 0;
    if (w.abandoned) {
        rt_scheduler_abandon(w.scheduler);
    }
    if (!w.destroyed) {
        rt_scheduler_release(w.scheduler);
        CHECK_UINT(RT_OK, rt_scheduler_wait_idle(w.scheduler, RT_SCHEDULER_FOREVER));
    }
    atomic_store(&w.stops, true);
    pthread_join(canceller, NULL);
    if (!w.destroyed) {
        check_sums();
    }
    rt_scheduler_destroy(w.scheduler);
    for (uint64_t id = 0; id < TASKS; id++) {
        check_task(id);
    }
    CHECK_UINT(0, w.broken);
    CHECK_UINT(0, w.allocator.live_objects);
}

static void one_schedule(uint64_t seed) {
    const int failures = check_failures;
    pthread_t canceller;
    begin(seed);
    CHECK_UINT(0, pthread_create(&canceller, NULL, cancel_and_poll, NULL));
    const uint64_t steps = 4 + draw(TASKS + 7, 0, 30);
    for (uint64_t step = 0; step < steps; step++) {
        steer(step);
    }
    end(canceller);
    if (check_failures != failures) {
        fprintf(stderr, "seed %" PRIu64 "\n", seed);
    }
}

int main(int count, char **arguments) {
    if (count > 1) {
        one_schedule(strtoull(arguments[1], NULL, 10));
        return check_done();
    }
    for (uint64_t seed = 1; seed <= SCHEDULES && check_failures == 0; seed++) {
        one_schedule(seed);
    }
    CHECK(total.completed > 1000 && total.failed > 100 && total.cancelled > 1000 && total.timed_out > 100);
    CHECK(total.rejected > 100 && total.yields > 1000 && total.suspensions > total.yields + 1000);
    CHECK(taken_back > 100 && never_ran > 100 && overflown > 100);
    return check_done();
}
