/* The options of a run: their defaults, the range of each, and how they become those of the workload. */
#ifndef RT_OPTIONS_H
#define RT_OPTIONS_H

#include "rt_status.h"
#include "rt_workload.h"
#include "runtime.h"

/* Rises whenever one task contains other work than before: results of two versions are not comparable. */
#define RT_BENCHMARK_VERSION "1"

#define RT_OPTIONS_SUITE_BYTES 65 /* with the closing NUL */
#define RT_OPTIONS_RUN_ID_BYTES 17

/* The defaults of the suite `scale`, from rt_workload_options_init. */
void rt_options_init(rt_run_options *options);

/* RT_INVALID: `why` names the first option that is out of its range, its value and the range. */
rt_status rt_options_check(const rt_run_options *options, rt_message *why);

/* Lets benchmark_version, access_pattern, submission and task_stack of checked options point to constants of the library. */
void rt_options_own_strings(rt_run_options *options);

/* Checked options only. */
void rt_options_to_workload(const rt_run_options *options, rt_workload_options *out);

#endif
