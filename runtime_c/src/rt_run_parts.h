/* Private to runtime.c and rt_run_*.c. */
#ifndef RT_RUN_PARTS_H
#define RT_RUN_PARTS_H

#include "rt_manifest.h"
#include "rt_memory_limit.h"
#include "rt_options.h"
#include "rt_record.h"
#include "rt_subject.h"
#include "runtime.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct rt_run {
    rt_run_options options; /* its strings are constants or the three arrays below */
    char suite[RT_OPTIONS_SUITE_BYTES];
    char run_id[RT_OPTIONS_RUN_ID_BYTES];
    char variant[RT_OPTIONS_VARIANT_BYTES];
    rt_allocator allocator; /* of the sampler and of experiments; a workload has its own */
    rt_memory_limit limit;
    rt_memory_usage memory_at_create;
    rt_subject subject;
    rt_sampler *sampler; /* NULL: the set-up failed for want of memory, see refusal */
    rt_message refusal;  /* why there is nothing to execute, only a record of that */
    rt_environment environment;
    rt_json *manifest;
    rt_json *record;
    const char *manifest_text;
    const char *record_text;
    const char *outcome;
    _Atomic int signal_number; /* 0: never interrupted */
    bool executed;
    pid_t pid; /* of its maker */
};

/* Executes, verifies and fills the record, all but the verdict. Whatever it returns, record->result is filled as far
 * as the run came: RT_OK also when it was stopped; else `why` says what it broke off with. */
rt_status rt_run_measure(rt_run *self, rt_record *record, rt_workload_result *result, rt_message *verified,
                         rt_message *why);

/* Sets outcome and cause. `broke_off`: what the run broke off with, or an empty text. */
void rt_run_judge(const rt_run *self, const rt_message *verified, const rt_message *broke_off,
                  rt_record *record, rt_message *cause);

#endif
