/* A run from the inside: what is read before, during and after it. */
#include "rt_run_parts.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "rt_cgroup.h"

static uint64_t timeval_ns(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static rt_record_usage read_usage(void) {
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_SELF, &usage);
    return (rt_record_usage){timeval_ns(usage.ru_utime), timeval_ns(usage.ru_stime), (uint64_t)usage.ru_nvcsw,
                             (uint64_t)usage.ru_nivcsw};
}

static rt_record_usage usage_since(rt_record_usage before) {
    rt_record_usage now = read_usage();
    return (rt_record_usage){now.user_ns - before.user_ns, now.system_ns - before.system_ns,
                             now.voluntary_switches - before.voluntary_switches,
                             now.involuntary_switches - before.involuntary_switches};
}

static uint64_t thread_cpu_ns(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void read_memory_at_end(rt_record *record) {
    rt_cgroup group;
    rt_cgroup_find("", &group);
    if (!rt_memory_pss("", &record->pss_bytes.value)) {
        record->pss_bytes.missing = "the kernel offers no smaps_rollup";
    }
    if (!rt_cgroup_memory_current(&group, &record->cgroup_current_bytes.value)) {
        record->cgroup_current_bytes.missing = "no memory controller accounts the group of this process";
    }
    if (!rt_cgroup_memory_peak(&group, &record->cgroup_peak_bytes.value)) {
        record->cgroup_peak_bytes.missing = "the memory controller keeps no peak, or there is none";
    }
}

/* Of the moment at which memory_after was read: nothing may be allocated in between. */
static void account_memory(rt_run *self, rt_record *record) {
    rt_subject_account(&self->subject, &record->account);
    rt_memory_account_add(&record->account, &self->allocator);
    rt_memory_account_add_object(&record->account, RT_OWNER_RUNTIME, sizeof *self);
    rt_sampler_account(self->sampler, &record->account);
}

/* Everything between the two readings of the kernel's counters belongs to the run. */
static rt_status execute_watched(rt_run *self, rt_record *record, rt_message *why) {
    rt_status status = rt_sampler_start(self->sampler, why);
    if (status != RT_OK) {
        if (self->limit.set) {
            rt_fail(&self->refusal, status, "the limit of memory was met at the set-up: %.180s", why->text);
        }
        return status;
    }
    const uint64_t thread_ns = thread_cpu_ns();
    const rt_record_usage before = read_usage();
    status = rt_subject_execute(&self->subject, why);
    record->usage = usage_since(before);
    record->submitter_cpu_ns = thread_cpu_ns() - thread_ns;
    rt_sampler_stop(self->sampler);
    if (rt_memory_read("", &record->memory_after) == RT_OK) {
        account_memory(self, record);
    }
    rt_memory_limit_lift(&self->limit); /* what follows is no part of the run */
    return status == RT_STOPPED ? RT_OK : status;
}

/* Nothing was executed: the record tells why, and the memory at that moment. */
static rt_status refuse(rt_run *self, rt_record *record, rt_workload_result *result, rt_message *why) {
    *why = self->refusal;
    record->sampler = NULL;
    rt_subject_destroy(&self->subject);
    rt_memory_limit_lift(&self->limit);
    result->started_at_s = rt_clock_wall_s(&rt_clock_machine);
    rt_memory_read("", &record->memory_after);
    return RT_NO_MEMORY;
}

rt_status rt_run_measure(rt_run *self, rt_record *record, rt_workload_result *result, rt_message *verified,
                         rt_message *why) {
    if (rt_memory_read("", &record->memory_before) != RT_OK) {
        return rt_fail(why, RT_UNAVAILABLE,
                       "the kernel does not tell the memory of this process; mount /proc");
    }
    if (self->refusal.text[0] != '\0') {
        return refuse(self, record, result, why);
    }
    rt_message stopped = {""};
    const rt_status status = execute_watched(self, record, &stopped);
    if (self->refusal.text[0] != '\0') {
        return refuse(self, record, result, why);
    }
    if (status != RT_OK) {
        *why = stopped;
    }
    read_memory_at_end(record);
    rt_subject_verify(&self->subject, verified); /* its answer is in result.checks.passed */
    const rt_status read = rt_subject_result(&self->subject, result);
    return status != RT_OK || read == RT_OK ? status : rt_fail(why, read, "the result could not be read");
}
