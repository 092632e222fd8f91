#include "runtime.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "rt_build.h"
#include "rt_cgroup.h"
#include "rt_manifest.h"
#include "rt_options.h"
#include "rt_record.h"

#define SAMPLER_ROWS 4096 /* 192 KiB; 41 s at 10 ms before the resolution halves */

struct rt_run {
    rt_run_options options; /* its strings are constants or the three arrays below */
    char suite[RT_OPTIONS_SUITE_BYTES];
    char run_id[RT_OPTIONS_RUN_ID_BYTES];
    char variant[RT_OPTIONS_VARIANT_BYTES];
    rt_allocator allocator; /* of the sampler; the workload has its own */
    rt_memory_usage memory_at_create;
    rt_workload *workload;
    rt_sampler *sampler;
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

static int report(const rt_message *why, rt_status status, char *message, size_t message_bytes) {
    if (message != NULL && message_bytes > 0) {
        snprintf(message, message_bytes, "%s", why->text[0] != '\0' ? why->text : rt_status_text(status));
    }
    return (int)status;
}

void rt_run_options_init(rt_run_options *options) { rt_options_init(options); }

static rt_status copy_options(rt_run *self, const rt_run_options *options) {
    uint64_t drawn;
    self->options = *options;
    snprintf(self->suite, sizeof self->suite, "%s", options->suite);
    self->options.suite = self->suite;
    snprintf(self->variant, sizeof self->variant, "%s", options->variant);
    self->options.variant = self->variant;
    if (options->run_id != NULL) {
        snprintf(self->run_id, sizeof self->run_id, "%s", options->run_id);
    } else if (getrandom(&drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn) {
        snprintf(self->run_id, sizeof self->run_id, "%016" PRIx64, drawn);
    } else {
        return RT_UNAVAILABLE;
    }
    self->options.run_id = self->run_id;
    rt_options_own_strings(&self->options);
    return RT_OK;
}

static rt_status write_manifest(rt_run *self) {
    rt_machine machine;
    rt_machine_read("", &machine);
    rt_environment_read("", &self->environment);
    rt_status status = rt_json_create(&self->manifest);
    if (status != RT_OK) {
        return status;
    }
    rt_manifest_write(self->manifest, NULL, &machine, &self->environment);
    return rt_json_finish(self->manifest, &self->manifest_text);
}

static void read_progress(void *context, rt_sample *sample) {
    rt_workload_progress progress;
    rt_workload_observe(context, &progress);
    sample->queue = progress.queue;
    sample->active = progress.active;
}

static rt_status build_parts(rt_run *self, rt_message *why) {
    rt_workload_options options;
    rt_options_to_workload(&self->options, &options);
    rt_status status = write_manifest(self);
    if (status != RT_OK) {
        return rt_fail(why, status, "the manifest could not be written (%s); free some memory",
                       rt_status_text(status));
    }
    status = rt_workload_create(&options, &self->workload, why);
    if (status != RT_OK) {
        return status;
    }
    return rt_sampler_create(&self->allocator, self->options.sampler_interval_ms * 1000000u, SAMPLER_ROWS,
                             read_progress, self->workload, &self->sampler, why);
}

int rt_run_create(const rt_run_options *options, rt_run **out, char *message, size_t message_bytes) {
    rt_message why = {""};
    *out = NULL;
    rt_status status = rt_options_check(options, &why);
    if (status != RT_OK) {
        return report(&why, status, message, message_bytes);
    }
    rt_memory_usage memory;
    if (rt_memory_read("", &memory) != RT_OK) {
        rt_fail(&why, RT_UNAVAILABLE, "the kernel does not tell the memory of this process; mount /proc");
        return report(&why, RT_UNAVAILABLE, message, message_bytes);
    }
    rt_run *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return report(&why, RT_NO_MEMORY, message, message_bytes);
    }
    rt_allocator_init(&self->allocator, 0);
    self->memory_at_create = memory;
    self->pid = getpid();
    status = copy_options(self, options);
    if (status == RT_OK) {
        status = build_parts(self, &why);
    }
    if (status != RT_OK) {
        rt_run_destroy(self);
        return report(&why, status, message, message_bytes);
    }
    *out = self;
    return RT_OK;
}

void rt_run_destroy(rt_run *self) {
    if (self == NULL) {
        return;
    }
    rt_sampler_destroy(self->sampler);
    rt_workload_destroy(self->workload);
    rt_json_destroy(self->record);
    rt_json_destroy(self->manifest);
    free(self);
}

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
    rt_workload_account(self->workload, &record->account);
    rt_memory_account_add(&record->account, &self->allocator);
    rt_memory_account_add_object(&record->account, RT_OWNER_RUNTIME, sizeof *self);
    rt_sampler_account(self->sampler, &record->account);
}

/* Everything between the two readings of the kernel's counters belongs to the run. */
static rt_status measure(rt_run *self, rt_record *record, rt_message *why) {
    if (rt_memory_read("", &record->memory_before) != RT_OK) {
        return rt_fail(why, RT_UNAVAILABLE,
                       "the kernel does not tell the memory of this process; mount /proc");
    }
    rt_status status = rt_sampler_start(self->sampler, why);
    if (status != RT_OK) {
        return status;
    }
    const uint64_t thread_ns = thread_cpu_ns();
    const rt_record_usage before = read_usage();
    status = rt_workload_execute(self->workload, why);
    record->usage = usage_since(before);
    record->submitter_cpu_ns = thread_cpu_ns() - thread_ns;
    rt_sampler_stop(self->sampler);
    if (status != RT_OK && status != RT_STOPPED) {
        return status;
    }
    status = rt_memory_read("", &record->memory_after);
    if (status == RT_OK) {
        account_memory(self, record);
    }
    return status;
}

static const char *signal_name(int number) {
    switch (number) {
    case SIGHUP:
        return "SIGHUP";
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    default:
        return "no usual one";
    }
}

/* The suite that started the process sets SIGALRM at its deadline. */
static const char *judge_stop(int number, rt_message *cause) {
    if (number == SIGALRM) {
        rt_fail(cause, RT_TIMED_OUT, "no end before the deadline of the run");
        return "timed_out";
    }
    rt_fail(cause, RT_STOPPED, "interrupted by signal %d (%s)", number, signal_name(number));
    return "killed";
}

/* Tasks that failed, were cancelled or timed out by the plan are what the run is about: it completed. */
static const char *judge_tasks(const rt_workload_result *result, rt_message *cause) {
    const rt_workload_stability *const stability = &result->stability;
    const uint64_t failed = result->faults.any ? result->faults.failed_unplanned : result->tasks_failed;
    if (failed > 0) {
        rt_fail(cause, RT_FAILED, "%" PRIu64 " tasks failed", failed);
        return "failed";
    }
    if (result->tasks_rejected > 0) {
        rt_fail(cause, RT_FULL, "%" PRIu64 " tasks were rejected at the queue limit", result->tasks_rejected);
        return "overloaded";
    }
    if (result->course != NULL && stability->growth_missing == NULL && stability->growth.growing) {
        rt_fail(cause, RT_FULL,
                "the queue grew by %.0f tasks a second over the last %.0f ms of submission: from %.0f to %.0f",
                stability->growth.growth_per_second, (double)stability->growth.window_ns / 1e6,
                stability->growth.queue_first, stability->growth.queue_last);
        return "overloaded";
    }
    return "completed";
}

/* A wrong check outweighs an interruption: the numbers of such a run mean nothing. */
static void judge(rt_run *self, const rt_message *verified, rt_record *record, rt_message *cause) {
    const rt_workload_result *result = record->result;
    if (!result->checks.passed) {
        record->outcome = "failed";
        rt_fail(cause, RT_FAILED, "%.200s", verified->text);
    } else if (result->stopped) {
        record->outcome = judge_stop(atomic_load(&self->signal_number), cause);
    } else {
        record->outcome = judge_tasks(result, cause);
    }
    record->cause = cause->text[0] != '\0' ? cause->text : NULL;
}

static rt_status write_record(rt_run *self, const rt_record *record) {
    rt_status status = rt_json_create(&self->record);
    if (status != RT_OK) {
        return status;
    }
    rt_record_write(self->record, NULL, record);
    status = rt_json_finish(self->record, &self->record_text);
    self->outcome = status == RT_OK ? record->outcome : NULL;
    return status;
}

static rt_status execute(rt_run *self, rt_message *why) {
    rt_message verified = {""}, cause = {""};
    rt_workload_result result;
    rt_record record = {.options = &self->options,
                        .result = &result,
                        .sampler = self->sampler,
                        .memory_at_create = self->memory_at_create,
                        .load_average = self->environment.load_average};
    rt_status status = measure(self, &record, why);
    if (status != RT_OK) {
        return status;
    }
    read_memory_at_end(&record);
    rt_workload_verify(self->workload, &verified); /* its answer is in result.checks.passed */
    status = rt_workload_result_read(self->workload, &result);
    if (status != RT_OK) {
        return status;
    }
    judge(self, &verified, &record, &cause);
    status = write_record(self, &record);
    if (status != RT_OK) {
        return rt_fail(why, status, "the record could not be written (%s); free some memory",
                       rt_status_text(status));
    }
    return RT_OK;
}

int rt_run_execute(rt_run *self, char *message, size_t message_bytes) {
    rt_message why = {""};
    if (self->pid != getpid()) {
        rt_fail(&why, RT_FORKED, "this run was made before a fork, and its workers stayed there; make it anew");
        return report(&why, RT_FORKED, message, message_bytes);
    }
    if (self->executed) {
        return report(&why, RT_BUSY, message, message_bytes);
    }
    self->executed = true;
    rt_status status = execute(self, &why);
    return status == RT_OK ? 0 : report(&why, status, message, message_bytes);
}

void rt_run_interrupt(rt_run *self, int signal_number) {
    int none = 0;
    atomic_compare_exchange_strong(&self->signal_number, &none, signal_number);
    rt_workload_request_stop(self->workload);
}

void rt_run_progress_read(rt_run *self, rt_run_progress *out) {
    rt_workload_progress progress;
    rt_workload_progress_read(self->workload, &progress);
    /* the verification is no phase of the run: it changes nothing that a reader of progress could see */
    rt_phase phase = progress.phase > RT_PHASE_FINISHED ? RT_PHASE_FINISHED : progress.phase;
    *out = (rt_run_progress){.phase = rt_phase_name(phase),
                             .tasks_submitted = progress.tasks_submitted,
                             .tasks_admitted = progress.tasks_admitted,
                             .tasks_completed = progress.tasks_completed,
                             .tasks_failed = progress.tasks_failed,
                             .tasks_cancelled = progress.tasks_cancelled,
                             .tasks_timed_out = progress.tasks_timed_out,
                             .tasks_rejected = progress.tasks_rejected,
                             .queue = progress.queue,
                             .active = progress.active,
                             .elapsed_ms = (double)progress.elapsed_ns / 1e6};
}

const char *rt_run_record(const rt_run *self) { return self->record_text; }

const char *rt_run_manifest(const rt_run *self) { return self->manifest_text; }

const char *rt_run_outcome(const rt_run *self) { return self->outcome; }

int rt_run_build(char *text, size_t text_bytes) {
    rt_json *json;
    const char *line = NULL;
    rt_status status = rt_json_create(&json);
    if (status == RT_OK) {
        rt_build_write(json, NULL);
        status = rt_json_finish(json, &line);
    }
    if (status == RT_OK && strlen(line) >= text_bytes) {
        status = RT_TOO_SMALL;
    }
    snprintf(text, text_bytes, "%s", status == RT_OK ? line : "");
    rt_json_destroy(json);
    return (int)status;
}

const char *rt_run_status_name(int status) { return rt_status_name((rt_status)status); }
