/* One run of a small workload from its options to its verified result. */
#ifndef WORKLOAD_FIXTURE_H
#define WORKLOAD_FIXTURE_H

#include "rt_workload.h"

#include "check.h"

static rt_workload_options options;
static rt_workload_result result;
static rt_workload *workload; /* of the last run, until fixture_end */
static rt_message why;

static inline void small_options(uint64_t tasks) {
    rt_workload_options_init(&options);
    options.tasks = tasks;
    options.agents = 50;
    options.workers = 3;
    options.aux_workers = 1;
    options.context_bytes = 10000;
    options.probes = 4;
    options.window = 100;
}

static inline void open_loop(rt_submission submission, uint64_t rate_per_s) {
    options.submission = submission;
    options.window = 0;
    options.rate_per_s = rate_per_s;
}

static inline void fixture_create(void) {
    why.text[0] = '\0';
    CHECK_UINT(RT_OK, rt_workload_create(&options, &workload, &why));
    CHECK_TEXT("", why.text);
}

/* Verifies and reads the result of the workload that was executed. */
static inline void fixture_finish(void) {
    why.text[0] = '\0';
    CHECK_UINT(RT_OK, rt_workload_verify(workload, &why));
    CHECK_TEXT("", why.text);
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    CHECK_UINT(result.tasks_submitted, result.tasks_admitted + result.tasks_rejected);
    CHECK_UINT(result.tasks_admitted, result.tasks_completed + result.tasks_failed + result.tasks_cancelled +
                                          result.tasks_timed_out);
    CHECK_UINT(0, result.active_at_end + result.queue_at_end);
}

static inline void fixture_run(void) {
    fixture_create();
    CHECK_UINT(RT_OK, rt_workload_execute(workload, &why));
    fixture_finish();
}

static inline void fixture_end(void) {
    rt_workload_destroy(workload);
    workload = NULL;
}

#endif
