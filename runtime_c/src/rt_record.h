/* The record of one run as JSON: everything that was counted, timed and read, under the names of the schema
 * runtime-execution. It computes nothing but units and percentiles; what was never known is null and
 * `unavailable` says why. */
#ifndef RT_RECORD_H
#define RT_RECORD_H

#include "rt_allocator.h"
#include "rt_fact.h"
#include "rt_json.h"
#include "rt_memory.h"
#include "rt_sampler.h"
#include "rt_subject.h"
#include "rt_workload.h"
#include "runtime.h"

/* What the process used, as getrusage counts it over all of its threads. */
typedef struct rt_record_usage {
    uint64_t user_ns, system_ns;
    uint64_t voluntary_switches, involuntary_switches;
} rt_record_usage;

typedef struct rt_record {
    const rt_run_options *options;
    const char *outcome;
    const char *cause; /* NULL: none */
    const rt_workload_result *result;
    const rt_subject *subject; /* nothing created: the set-up failed, and there are only zeros */
    const rt_sampler *sampler; /* NULL then */
    rt_memory_account account;     /* of the workload and the sampler, right after execute */
    rt_record_usage usage;         /* during execute */
    uint64_t submitter_cpu_ns;     /* of the thread that executed, during execute */
    rt_memory_usage memory_at_create; /* before anything of the runtime was made */
    rt_memory_usage memory_before; /* just before execute */
    rt_memory_usage memory_after;  /* just after it, before the verification */
    rt_fact_uint pss_bytes, cgroup_current_bytes, cgroup_peak_bytes;
    rt_fact_double load_average;
} rt_record;

/* Writes the record object. */
void rt_record_write(rt_json *json, const char *key, const rt_record *record);

#endif
