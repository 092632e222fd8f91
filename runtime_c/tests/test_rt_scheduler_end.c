/* Shutdown, cancellation, and what happens when something cannot be had. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static fixture f;

/* Bug 1: a notification outside the lock is lost at shutdown, and the join never returns. */
static void bug1_ten_thousand_short_lives_end(void) {
    fixture_init(&f, 2);
    for (unsigned life = 0; life < 10000; life++) {
        f.entered = 0;
        fixture_start(&f);
        if (life % 2 == 0) {
            fixture_submit(&f, 0, life % 7, 0, NULL);
        }
        rt_scheduler_destroy(f.scheduler);
    }
    f.scheduler = NULL;
    fixture_end(&f);
}

static void ending_cancels_what_has_not_started_and_finishes_what_runs(void) {
    fixture_init(&f, 1);
    fixture_start(&f);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 1000, 0, NULL);
    rt_scheduler_destroy(f.scheduler);
    f.scheduler = NULL;
    CHECK_UINT(0, f.entered);
    CHECK_UINT(0, f.finished);
    fixture_end(&f);
}

static void abandoning_cancels_the_queue_and_refuses_more(void) {
    size_t admitted = 99;
    fixture_init(&f, 2);
    fixture_start(&f);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 100, 4, NULL);
    CHECK_UINT(RT_OK, rt_scheduler_abandon(f.scheduler));
    fixture_await_idle(&f);
    CHECK_UINT(100, fixture_counts(&f).cancelled);
    CHECK_UINT(0, fixture_counts(&f).queued);
    CHECK_UINT(RT_STOPPED, fixture_submit(&f, 100, 1, 0, &admitted));
    CHECK_UINT(0, admitted);
    CHECK_UINT(100, fixture_counts(&f).submitted);
    CHECK_UINT(RT_OK, rt_scheduler_abandon(f.scheduler)); /* once more changes nothing */
    CHECK_UINT(100, fixture_counts(&f).cancelled);
    fixture_end(&f);
}

static void abandoning_cancels_the_rest_of_a_batch_that_is_being_run(void) {
    _Atomic uint64_t now_ns = 1;
    const rt_clock ticking = {fixture_tick, NULL, &now_ns};
    fixture_start_with_full_batches(&f, 1, &ticking);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 40, 0, NULL);
    fixture_await_entered(&f, 1);
    CHECK_UINT(100 + RT_SCHEDULER_MAX_BATCH, fixture_counts(&f).dequeued);
    CHECK_UINT(RT_OK, rt_scheduler_abandon(f.scheduler));
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    const rt_scheduler_counts counts = fixture_counts(&f);
    CHECK_UINT(101, counts.completed);
    CHECK_UINT(39, counts.cancelled);
    CHECK_UINT(1, f.entered);
    CHECK_UINT(101, f.released);
    fixture_end(&f);
}

/* Bug 14: a pool without its threads hangs after fork. */
static void bug14_using_a_scheduler_in_a_forked_child_is_an_error_not_a_hang(uint32_t stack_bytes) {
    fixture_init(&f, 2);
    f.options.stack_bytes = stack_bytes;
    fixture_start(&f);
    fixture_submit(&f, 0, 10, 0, NULL);
    fixture_await_idle(&f);
    const pid_t child = fork();
    if (child == 0) {
        rt_scheduler_counts counts;
        rt_task_record record;
        int wrong = 0;
        wrong |= rt_scheduler_submit(f.scheduler, &f.tasks[0]) != RT_FORKED;
        wrong |= (rt_scheduler_wait_idle(f.scheduler, RT_SCHEDULER_FOREVER) != RT_FORKED) << 1;
        wrong |= (rt_scheduler_wait_in_flight(f.scheduler, 0, 0) != RT_FORKED) << 2;
        wrong |= (rt_scheduler_hold(f.scheduler) != RT_FORKED) << 3;
        wrong |= (rt_scheduler_abandon(f.scheduler) != RT_FORKED) << 4;
        wrong |= (rt_scheduler_history(f.scheduler, 0, &record, NULL, 0) != RT_FORKED) << 5;
        rt_scheduler_count(f.scheduler, &counts);
        wrong |= (counts.completed != 10) << 6;
        wrong |= (rt_scheduler_cancel(f.scheduler, &f.tasks[0], 0) != RT_FORKED) << 7;
        rt_scheduler_destroy(f.scheduler);
        _exit(wrong);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_UINT(0, WEXITSTATUS(status));
    fixture_submit(&f, 10, 10, 0, NULL); /* the parent goes on */
    fixture_await_idle(&f);
    CHECK_UINT(20, fixture_counts(&f).completed);
    fixture_end(&f);
}

static unsigned threads_allowed;

static int start_some(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                      void *argument) {
    if (threads_allowed == 0) {
        return EAGAIN;
    }
    threads_allowed--;
    return pthread_create(thread, attributes, entry, argument);
}

static void a_worker_that_cannot_start_ends_the_others_and_leaks_nothing(void) {
    for (unsigned allowed = 0; allowed < 4; allowed++) {
        rt_message why = {""};
        threads_allowed = allowed;
        fixture_init(&f, 4);
        f.options.start_thread = start_some;
        f.options.stack_bytes = allowed % 2 == 0 ? 65536 : 0;
        CHECK_UINT(RT_NO_THREAD, rt_scheduler_create(&f.options, &f.scheduler, &why));
        CHECK(f.scheduler == NULL);
        char expected[256];
        snprintf(expected, sizeof expected,
                 "worker %u of 4 could not start: Resource temporarily unavailable; raise the limits of threads "
                 "and memory, or choose fewer workers",
                 allowed + 1);
        CHECK_TEXT(expected, why.text);
        fixture_end(&f);
    }
}

static void memory_that_cannot_be_had_is_a_status_at_every_attempt(void) {
    rt_status status = RT_NO_MEMORY;
    uint64_t fail_at = 0;
    while (status == RT_NO_MEMORY) {
        rt_message why = {""};
        fixture_init(&f, 2);
        f.options.stack_bytes = 65536;
        f.options.contention_sample_every = 1;
        rt_allocator_init(&f.allocator, ++fail_at);
        status = rt_scheduler_create(&f.options, &f.scheduler, &why);
        CHECK(status == RT_OK || (f.scheduler == NULL && why.text[0] != '\0'));
        fixture_end(&f);
    }
    CHECK_UINT(RT_OK, status);
    CHECK(fail_at > 8); /* scheduler, workers, idle stack, history, histograms, locks' histograms, stacks */
}

static void the_most_workers_allowed_start_and_end(void) {
    fixture_init(&f, RT_SCHEDULER_MAX_WORKERS);
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 5000, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(5000, fixture_counts(&f).completed);
    CHECK_UINT(RT_SCHEDULER_MAX_WORKERS, fixture_counts(&f).idle);
    fixture_end(&f);
}

int main(void) {
    bug1_ten_thousand_short_lives_end();
    ending_cancels_what_has_not_started_and_finishes_what_runs();
    abandoning_cancels_the_queue_and_refuses_more();
    abandoning_cancels_the_rest_of_a_batch_that_is_being_run();
    bug14_using_a_scheduler_in_a_forked_child_is_an_error_not_a_hang(0);
    bug14_using_a_scheduler_in_a_forked_child_is_an_error_not_a_hang(65536);
    a_worker_that_cannot_start_ends_the_others_and_leaks_nothing();
    memory_that_cannot_be_had_is_a_status_at_every_attempt();
    the_most_workers_allowed_start_and_end();
    rt_scheduler_destroy(NULL);
    return check_done();
}
