/* Who took the lock, and what the workers did with their time. A clock that moves one nanosecond a read makes the
 * figures exact. */
#include "scheduler_fixture.h"

static fixture f;
static _Atomic uint64_t now_ns;
static const rt_clock ticking = {fixture_tick, NULL, &now_ns};

static void start(uint32_t workers, uint32_t sample_every) {
    atomic_store(&now_ns, 1000);
    fixture_init(&f, workers);
    f.options.clock = &ticking;
    f.options.contention_sample_every = sample_every;
    fixture_start(&f);
    fixture_await_idle(&f);
}

static rt_scheduler_contention_report report(void) {
    rt_scheduler_contention_report r;
    rt_scheduler_contention(f.scheduler, &r);
    return r;
}

static void every_acquisition_is_counted_at_its_site(void) {
    start(1, 0);
    const rt_scheduler_contention_report before = report();
    for (uint64_t i = 0; i < 100; i++) {
        fixture_submit(&f, i, 1, 0, NULL);
    }
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    const rt_scheduler_contention_report r = report();
    CHECK_UINT(100, r.acquisitions[RT_SCHEDULER_SUBMIT] - before.acquisitions[RT_SCHEDULER_SUBMIT]);
    CHECK_UINT(3, r.acquisitions[RT_SCHEDULER_CONTROL] - before.acquisitions[RT_SCHEDULER_CONTROL]);
    CHECK(r.acquisitions[RT_SCHEDULER_TURN] > before.acquisitions[RT_SCHEDULER_TURN]);
    CHECK_UINT(0, r.sample_every);
    CHECK(r.wait[RT_SCHEDULER_TURN] == NULL && r.hold[RT_SCHEDULER_TURN] == NULL);
    fixture_end(&f);
}

static void one_acquisition_in_so_many_is_timed(void) {
    start(1, 10);
    for (uint64_t i = 0; i < 95; i++) {
        fixture_submit(&f, i, 1, 0, NULL);
    }
    fixture_await_idle(&f);
    const rt_scheduler_contention_report r = report();
    CHECK_UINT(10, r.sample_every);
    CHECK_UINT(10, r.wait[RT_SCHEDULER_SUBMIT]->count); /* the 1st, 11th, … 91st of 95 */
    CHECK_UINT(10, r.hold[RT_SCHEDULER_SUBMIT]->count);
    /* A hold reads the clock twice at least, once of them for the tasks: at least two nanoseconds here. */
    CHECK(r.hold[RT_SCHEDULER_SUBMIT]->min_ns >= 2);
    CHECK(r.wait[RT_SCHEDULER_SUBMIT]->min_ns >= 1);
    CHECK(r.wait[RT_SCHEDULER_TURN]->count >= 1);
    CHECK_UINT(r.wait[RT_SCHEDULER_TURN]->count, r.hold[RT_SCHEDULER_TURN]->count);
    CHECK_UINT(1, r.wait[RT_SCHEDULER_CONTROL]->count); /* of two waits and no count: the first */
    fixture_end(&f);
}

static void advance(uint64_t by_ns) { atomic_fetch_add(&now_ns, by_ns); }

/* One of four workers runs a task for a microsecond: the three others are idle for as long. */
static void idle_time_is_that_of_all_workers_that_do_not_run(void) {
    start(4, 0);
    advance(7000000); /* before the first task is no part of the window */
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    fixture_await_entered(&f, 1);
    advance(1000000);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    const rt_scheduler_contention_report r = report();
    CHECK(r.window_ns >= 1000000 && r.window_ns < 1000100);
    CHECK(r.idle_ns >= 3000000 && r.idle_ns < 3000400);
    CHECK(r.idle_while_queued_ns < 400); /* nothing was queued but while a worker woke up */
    fixture_end(&f);
}

/* max_active keeps a worker from a queued task: idle while the queue is not empty. Held workers are not. */
static void idle_while_queued_counts_workers_that_could_have_worked(void) {
    atomic_store(&now_ns, 1000);
    fixture_init(&f, 2);
    f.options.clock = &ticking;
    f.options.max_active = 1;
    fixture_start(&f);
    fixture_await_idle(&f); /* both workers are there */
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    fixture_await_entered(&f, 1);
    fixture_submit(&f, 1, 1, 0, NULL);
    advance(1000000);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    advance(5000000);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    const rt_scheduler_contention_report r = report();
    CHECK(r.idle_while_queued_ns >= 1000000 && r.idle_while_queued_ns < 1000200);
    CHECK(r.idle_ns >= 6000000);
    fixture_end(&f);
}

static _Atomic uint64_t spins;

static rt_status spin(rt_task_run *run) {
    for (unsigned i = 0; i < 3000000; i++) {
        atomic_fetch_add_explicit(&spins, 1, memory_order_relaxed);
    }
    return run->task_id == UINT64_MAX ? RT_FAILED : RT_OK;
}

static void cpu_time_is_that_of_the_worker_threads(void) {
    start(2, 0);
    const uint64_t before_ns = report().worker_cpu_ns;
    f.answer = spin;
    fixture_submit(&f, 0, 2, 0, NULL);
    fixture_await_idle(&f);
    const uint64_t used_ns = report().worker_cpu_ns - before_ns;
    CHECK(used_ns > 1000000); /* six million atomic additions take more than a millisecond anywhere */
    CHECK(rt_scheduler_worker_cpu_ns(f.scheduler, 0) + rt_scheduler_worker_cpu_ns(f.scheduler, 1) >= used_ns);
    CHECK_UINT(0, rt_scheduler_worker_cpu_ns(f.scheduler, 2));
    fixture_end(&f);
}

int main(void) {
    every_acquisition_is_counted_at_its_site();
    one_acquisition_in_so_many_is_timed();
    idle_time_is_that_of_all_workers_that_do_not_run();
    idle_while_queued_counts_workers_that_could_have_worked();
    cpu_time_is_that_of_the_worker_threads();
    return check_done();
}
