/* A runner that needs more stack than it has: its task fails by name, and everything else goes on. */
#include "scheduler_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static fixture f;

/* Touches every page on its way down; the compiler can neither inline it nor turn it into a loop. */
static __attribute__((noinline)) unsigned dig(unsigned depth) {
    volatile unsigned char page[2048];
    page[0] = (unsigned char)depth;
    page[2047] = page[0];
    return depth == 0 ? page[2047] : dig(depth - 1) + page[0];
}

static rt_status overflow_every_tenth(rt_task_run *run) {
    if (run->task_id % 10 == 3) {
        return dig(1000000) == 1 ? RT_FAILED : RT_OK;
    }
    return run->task_id % 10 == 4 ? rt_task_yield(run) : RT_OK;
}

static rt_status overflow_always(rt_task_run *run) {
    (void)run;
    return dig(1000000) == 1 ? RT_FAILED : RT_OK;
}

static void start(uint32_t workers) {
    fixture_init(&f, workers);
    f.options.stack_bytes = 65536;
    f.options.history_limit_tasks = 1000;
    f.answer = overflow_every_tenth;
    fixture_start(&f);
}

static void a_stack_overflow_is_a_failed_task_with_its_name_and_the_others_go_on(void) {
    start(2);
    fixture_submit(&f, 0, 1000, 0, NULL);
    fixture_await_idle(&f);
    const rt_scheduler_counts c = fixture_counts(&f);
    CHECK_UINT(900, c.completed);
    CHECK_UINT(100, c.failed);
    CHECK_UINT(1000, f.finished);
    CHECK_UINT(1000, f.released);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_UINT(i % 10 == 3 ? RT_STACK_OVERFLOW : RT_OK, f.tasks[i].status);
    }
    rt_task_record record = {.task_id = 0};
    for (uint64_t i = 0; i < 1000 && record.task_id % 10 != 3; i++) {
        CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, i, &record, NULL, 0));
    }
    CHECK_UINT(RT_STACK_OVERFLOW, record.status);
    CHECK_TEXT("stack_overflow", rt_status_name((rt_status)record.status));
    CHECK_UINT(0, record.output_bytes);
    CHECK(record.ended_ns >= record.started_ns && record.started_ns >= record.dequeued_ns);
    fixture_end(&f);
}

static void the_stack_that_overflowed_is_used_again(void) {
    start(1);
    f.answer = overflow_always;
    rt_scheduler_bytes before, after;
    fixture_submit(&f, 0, 20, 0, NULL);
    fixture_await_idle(&f);
    rt_scheduler_account(f.scheduler, &before);
    fixture_submit(&f, 20, 1000, 0, NULL);
    fixture_await_idle(&f);
    rt_scheduler_account(f.scheduler, &after);
    CHECK_UINT(before.stack_reserved_bytes, after.stack_reserved_bytes);
    CHECK_UINT(1020, fixture_counts(&f).failed);
    fixture_end(&f);
}

static rt_status touch_nothing(rt_task_run *run) {
    volatile int *const nowhere = (volatile int *)(uintptr_t)(run->task_id + 16);
    return *nowhere == 0 ? RT_OK : RT_FAILED;
}

/* A wrong address is not an overflow: the process dies of it as it always did. */
static void another_fault_is_not_mistaken_for_an_overflow(void) {
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        fixture_init(&f, 1);
        f.options.stack_bytes = 65536;
        f.answer = touch_nothing;
        fixture_start(&f);
        fixture_submit(&f, 0, 1, 0, NULL);
        fixture_await_idle(&f);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

int main(void) {
    a_stack_overflow_is_a_failed_task_with_its_name_and_the_others_go_on();
    the_stack_that_overflowed_is_used_again();
    another_fault_is_not_mistaken_for_an_overflow();
    return check_done();
}
