/* What a run does, whichever workload it is: tasks through the scheduler, one pass over a large context, or the
 * index of the roles. Order of calls: create -> execute -> verify -> result -> destroy. */
#ifndef RT_SUBJECT_H
#define RT_SUBJECT_H

#include "rt_allocator.h"
#include "rt_context_experiment.h"
#include "rt_lookup_experiment.h"
#include "rt_memory_account.h"
#include "rt_status.h"
#include "rt_workload.h"
#include "runtime.h"

#include <stdbool.h>

/* Exactly one of the three is not NULL once it is created. */
typedef struct rt_subject {
    rt_workload *workload;
    rt_context_experiment *context;
    rt_lookup_experiment *lookup;
    _Atomic int stop_requested;
    rt_status ended_with; /* what execute of an experiment returned */
} rt_subject;

/* Checked options, whose strings are constants. `allocator` is for the experiments: a workload has its own.
 * RT_INVALID, RT_NO_MEMORY, RT_NO_THREAD: nothing is kept. A stop that was asked for before holds. */
rt_status rt_subject_create(rt_subject *self, const rt_run_options *options, rt_allocator *allocator,
                            rt_message *why);
void rt_subject_destroy(rt_subject *self); /* also when nothing was created */

/* RT_OK, RT_STOPPED, or what the run broke off with. */
rt_status rt_subject_execute(rt_subject *self, rt_message *why);

/* Async-signal-safe; at any time between the first zeroing and destroy. */
void rt_subject_request_stop(rt_subject *self);

/* Any thread. Without anything created: setup, and zeros. */
void rt_subject_progress(rt_subject *self, rt_workload_progress *out);
/* The same for the sampler. */
void rt_subject_observe(rt_subject *self, rt_workload_progress *out);

/* After execute. RT_FAILED: `why` says what is wrong. */
rt_status rt_subject_verify(rt_subject *self, rt_message *why);

/* Of an experiment only times, counts, phase and checks.passed are filled in. RT_BUSY: not executed. */
rt_status rt_subject_result(rt_subject *self, rt_workload_result *out);

/* Adds what it holds; the blocks of `allocator` are not in it. */
void rt_subject_account(rt_subject *self, rt_memory_account *account);

#endif
