/* The public face: what a record holds, how a run is stopped. */
#include "runtime.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "check.h"

static rt_run_options small(void) {
    rt_run_options options;
    rt_run_options_init(&options);
    options.tasks = 1000;
    options.context_bytes = 65536;
    return options;
}

static bool holds(const char *text, const char *part) { return text != NULL && strstr(text, part) != NULL; }

static void check_refused(const rt_run_options *options, const char *expected) {
    char message[RT_RUN_MESSAGE_BYTES] = "";
    rt_run *run;
    CHECK_TEXT("invalid", rt_run_status_name(rt_run_create(options, &run, message, sizeof message)));
    CHECK(run == NULL);
    CHECK_TEXT(expected, message);
}

static void a_run_gives_its_record_once(void) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES], run_id[] = "00000000000000ab";
    rt_run_progress progress;
    rt_run *run;
    options.run_id = run_id;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    memset(run_id, '#', 16); /* the run has its own copy */
    CHECK(rt_run_record(run) == NULL && rt_run_outcome(run) == NULL);
    CHECK(holds(rt_run_manifest(run), "\"source_digest\""));
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    CHECK_TEXT("completed", rt_run_outcome(run));
    rt_run_progress_read(run, &progress);
    CHECK_TEXT("finished", progress.phase);
    CHECK_UINT(1000, progress.tasks_completed);
    CHECK(holds(rt_run_record(run), "\"run_id\":\"00000000000000ab\""));
    CHECK(holds(rt_run_record(run), "\"tasks_completed\":1000,"));
    CHECK(holds(rt_run_record(run), "\"cause\":null,"));
    CHECK(!holds(rt_run_record(run), "\n"));
    CHECK_TEXT("busy", rt_run_status_name(rt_run_execute(run, message, sizeof message)));
    CHECK(holds(rt_run_record(run),
                "\"tasks_completed\":1000,")); /* a refused second call takes nothing away */
    rt_run_destroy(run);
}

static void a_run_stopped_before_it_began_keeps_its_record(void) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES];
    rt_run *run;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    rt_run_interrupt(run, SIGTERM);
    rt_run_interrupt(run, SIGINT); /* the first one counts */
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    CHECK_TEXT("killed", rt_run_outcome(run));
    CHECK(holds(rt_run_record(run), "\"cause\":\"interrupted by signal 15 (SIGTERM)\""));
    CHECK(holds(rt_run_record(run), "\"end_to_end_p50_ms\":null,"));
    CHECK(holds(rt_run_record(run), "\"end_to_end_p50_ms\":\"no task came to an end\""));
    CHECK(holds(rt_run_record(run), "\"min_ns\":null,\"max_ns\":null,\"buckets\":[]"));
    rt_run_destroy(run);
}

static void *interrupt_when_it_runs(void *argument) {
    rt_run_progress progress;
    do {
        rt_run_progress_read(argument, &progress);
    } while (progress.tasks_completed == 0);
    rt_run_interrupt(argument, SIGINT);
    return NULL;
}

static void a_run_stopped_in_the_middle_conserves_its_tasks(void) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES];
    rt_run_progress progress;
    pthread_t thread;
    rt_run *run;
    options.tasks = UINT64_C(1) << 24; /* far more than can be done before the interruption */
    options.submission = "paced";
    options.window = 0;
    options.rate_per_s = 1000;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    CHECK_UINT(0, pthread_create(&thread, NULL, interrupt_when_it_runs, run));
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    pthread_join(thread, NULL);
    CHECK_TEXT("killed", rt_run_outcome(run));
    CHECK(holds(rt_run_record(run), "\"cause\":\"interrupted by signal 2 (SIGINT)\""));
    rt_run_progress_read(run, &progress);
    CHECK(progress.tasks_completed > 0 && progress.tasks_completed < options.tasks);
    CHECK_UINT(progress.tasks_submitted, progress.tasks_admitted + progress.tasks_rejected);
    CHECK_UINT(progress.tasks_admitted,
               progress.tasks_completed + progress.tasks_failed + progress.tasks_cancelled);
    CHECK_UINT(0, progress.queue);
    CHECK_UINT(0, progress.active);
    rt_run_destroy(run);
}

static void *interrupt_when_a_task_waits(void *argument) {
    rt_run_progress progress;
    do {
        sched_yield();
        rt_run_progress_read(argument, &progress);
    } while (progress.tasks_admitted - progress.queue < 3);
    rt_run_interrupt(argument, SIGTERM);
    return NULL;
}

/* Every task would wait for an hour. */
static void check_that_waits_end(const char *wait_mode, const char *task_stack, const char *submission) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES];
    pthread_t thread;
    rt_run *run;
    options.tasks = 50;
    options.workers = 3;
    options.submission = submission;
    options.window = strcmp(submission, "closed") == 0 ? 10 : 0;
    options.rate_per_s = strcmp(submission, "paced") == 0 ? 1000 : 0;
    options.wait_mode = wait_mode;
    options.wait_us = UINT64_C(3600000000);
    options.task_stack = task_stack;
    options.stack_bytes = strcmp(task_stack, "pooled") == 0 ? 65536 : 0;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    CHECK_UINT(0, pthread_create(&thread, NULL, interrupt_when_a_task_waits, run));
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    pthread_join(thread, NULL);
    CHECK_TEXT("killed", rt_run_outcome(run));
    CHECK(holds(rt_run_record(run), "\"cause\":\"interrupted by signal 15 (SIGTERM)\""));
    CHECK(holds(rt_run_record(run), "\"tasks_completed\":0,"));
    rt_run_destroy(run);
}

static void an_interruption_ends_every_kind_of_wait(void) {
    check_that_waits_end("blocking", "inline", "closed");
    check_that_waits_end("blocking", "pooled", "paced");
    check_that_waits_end("yielding", "pooled", "closed");
    check_that_waits_end("yielding", "pooled", "held");
}

static void a_full_queue_is_an_overload(void) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES];
    rt_run *run;
    options.queue_limit = 1;
    options.max_active = 1;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    CHECK_TEXT("overloaded", rt_run_outcome(run));
    CHECK(holds(rt_run_record(run), " tasks were rejected at the queue limit\""));
    rt_run_destroy(run);
}

/* Executes and gives the run back, whose record holds all of `parts` (up to NULL). */
static void check_record(const rt_run_options *options, const char *outcome, const char *const *parts) {
    char message[RT_RUN_MESSAGE_BYTES] = "";
    rt_run *run;
    CHECK_UINT(0, rt_run_create(options, &run, message, sizeof message));
    CHECK_TEXT("", message);
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    CHECK_TEXT(outcome, rt_run_outcome(run));
    for (; *parts != NULL; parts++) {
        CHECK_TEXT(*parts, holds(rt_run_record(run), *parts) ? *parts : "not in the record");
    }
    rt_run_destroy(run);
}

static void a_deadline_is_no_kill(void) {
    rt_run_options options = small();
    char message[RT_RUN_MESSAGE_BYTES];
    rt_run *run;
    CHECK_UINT(0, rt_run_create(&options, &run, message, sizeof message));
    rt_run_interrupt(run, SIGALRM);
    CHECK_UINT(0, rt_run_execute(run, message, sizeof message));
    CHECK_TEXT("timed_out", rt_run_outcome(run));
    CHECK(holds(rt_run_record(run), "\"cause\":\"no end before the deadline of the run\""));
    rt_run_destroy(run);
}

static void tasks_that_fail_by_plan_do_not_make_the_run_fail(void) {
    static const char *const parts[] = {"\"tasks_failed\":1000,", "\"failed_chosen\":1000,", "\"cause\":null,",
                                        NULL};
    rt_run_options options = small();
    options.fail_permille = 1000;
    check_record(&options, "completed", parts);
}

/* Two workers that are held for 2 ms by each task end 1,000 a second; twice as many arrive. */
static void a_queue_that_grows_is_an_overload_with_its_growth(void) {
    static const char *const parts[] = {"\"growing\":true", "\"littles_law\":null,",
                                        "\"cause\":\"the queue grew by ", "\"phase\":\"finished\",", NULL};
    rt_run_options options = small();
    options.workers = 2;
    options.submission = "paced";
    options.window = 0;
    options.rate_per_s = 2000;
    options.wait_mode = "blocking";
    options.wait_us = 2000;
    check_record(&options, "overloaded", parts);
}

/* A million tasks are due within a millisecond: nothing submits them so fast. */
static void a_submitter_that_falls_behind_is_an_overload(void) {
    static const char *const parts[] = {"\"cause\":\"the submitter fell behind its schedule: half of the tasks ",
                                        "\"tasks_rejected\":0,", NULL};
    rt_run_options options = small();
    options.tasks = 1000000;
    options.queue_limit = 1000000;
    options.probes = 1;
    options.submission = "paced";
    options.window = 0;
    options.rate_per_s = 1000000000;
    check_record(&options, "overloaded", parts);
}

static void the_other_workloads_have_their_own_object(void) {
    static const char *const context[] = {"\"context\":{", "\"tasks_completed\":1,", "\"peak_rss_bytes\":", NULL};
    static const char *const lookup[] = {"\"lookup\":{", "\"tasks_completed\":1000,", "\"lookup_hit\":{", NULL};
    rt_run_options options = small();
    options.workload = "lookup";
    check_record(&options, "completed", lookup);
    options.workload = "context";
    check_refused(&options, "tasks is 1000 in workload context, one pass; choose 1");
    options.tasks = 1;
    options.rewrite_permille = 10;
    options.context_bytes = 1u << 20;
    check_record(&options, "completed", context);
}

/* A sanitizer's own shadow makes every limit of address space mean something else. */
static void a_limit_of_memory_that_is_met_is_a_record(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    static const char *const parts[] = {"\"phase\":\"setup\",", "\"tasks_submitted\":0,",
                                        "\"tasks_per_second\":null,",
                                        "\"tasks_per_second\":\"no time passed between start and end\"",
                                        "\"cause\":\"the limit of memory was met at the set-up: no memory for ",
                                        NULL};
    static const char *const later[] = {"\"phase\":\"submit\",", "\"tasks_submitted\":1,",
                                        "\"tasks_failed\":1,", "\"cause\":\"no memory for ", NULL};
    rt_run_options options = small();
    options.context_bytes = 64u << 20;
    options.memory_limit_bytes = 8u << 20;
    check_record(&options, "failed", parts);
    options.workload = "context";
    options.tasks = 1;
    check_record(&options, "failed", later);
#endif
}

/* The objects of these tasks are 64 MB, allocated as they are submitted. First of all tests: memory that others gave
 * back is still this process's, and no limit would be met. */
static void a_limit_that_is_met_in_mid_run_keeps_the_counts(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    static const char *const parts[] = {"\"phase\":\"submit\",", "\"tasks_rejected\":0,",
                                        "\"cause\":\"the run broke off: there is not enough memory\",", NULL};
    rt_run_options options = small();
    options.submission = "held";
    options.window = 0;
    options.tasks = 1000000;
    options.memory_limit_bytes = 48u << 20;
    check_record(&options, "failed", parts);
#endif
}

static atomic_bool watching;

static void *watch(void *run) {
    rt_run_progress progress;
    while (atomic_load(&watching)) {
        rt_run_progress_read(run, &progress);
        sched_yield();
    }
    return NULL;
}

/* ThreadSanitizer's test: whoever watches goes on while the record is written from what the run counted. */
static void a_watcher_looks_until_the_record_is_there(void) {
    const rt_run_options options = small();
    rt_run *run;
    pthread_t watcher;
    CHECK_UINT(0, rt_run_create(&options, &run, NULL, 0));
    atomic_store(&watching, true);
    CHECK_UINT(0, pthread_create(&watcher, NULL, watch, run));
    CHECK_UINT(0, rt_run_execute(run, NULL, 0));
    CHECK(holds(rt_run_record(run), "\"outcome\":\"completed\""));
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
    rt_run_destroy(run);
}

static void the_build_is_told_without_a_run(void) {
    char text[4096], tiny[8] = "x";
    CHECK_UINT(0, rt_run_build(text, sizeof text));
    CHECK(holds(text, "{\"source_digest\":\"") && holds(text, "\"sanitizer\":\""));
    CHECK_TEXT("too_small", rt_run_status_name(rt_run_build(tiny, sizeof tiny)));
    CHECK_TEXT("", tiny);
}

int main(void) {
    a_limit_that_is_met_in_mid_run_keeps_the_counts();
    a_run_gives_its_record_once();
    a_run_stopped_before_it_began_keeps_its_record();
    a_run_stopped_in_the_middle_conserves_its_tasks();
    an_interruption_ends_every_kind_of_wait();
    a_full_queue_is_an_overload();
    a_deadline_is_no_kill();
    tasks_that_fail_by_plan_do_not_make_the_run_fail();
    a_queue_that_grows_is_an_overload_with_its_growth();
    a_submitter_that_falls_behind_is_an_overload();
    the_other_workloads_have_their_own_object();
    a_limit_of_memory_that_is_met_is_a_record();
    a_watcher_looks_until_the_record_is_there();
    the_build_is_told_without_a_run();
    rt_run_destroy(NULL);
    return check_done();
}
