#include "runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "rt_build.h"
#include "rt_run_parts.h"

#define SAMPLER_ROWS 4096 /* 192 KiB; 41 s at 10 ms before the resolution halves */

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
    rt_subject_observe(context, &progress);
    sample->queue = progress.queue;
    sample->active = progress.active;
}

static rt_status build_sampler(rt_run *self, rt_message *why) {
    return rt_sampler_create(&self->allocator, self->options.sampler_interval_ms * 1000000u, SAMPLER_ROWS,
                             read_progress, &self->subject, &self->sampler, why);
}

/* Under a limit of memory that the options ask for, not to come up is what the run is about: it is kept as a run that
 * has only a record. */
static rt_status build_limited(rt_run *self, rt_message *why) {
    rt_memory_usage memory;
    rt_status status = rt_memory_read("", &memory);
    if (status == RT_OK) {
        status = rt_memory_limit_set(&self->limit, memory.virtual_bytes, self->options.memory_limit_bytes);
    }
    if (status != RT_OK) {
        return rt_fail(why, status, "the limit of memory could not be set; choose memory_limit_bytes 0");
    }
    status = rt_subject_create(&self->subject, &self->options, &self->allocator, why);
    if (status == RT_OK) {
        status = build_sampler(self, why);
    }
    if (self->limit.set && (status == RT_NO_MEMORY || status == RT_NO_THREAD)) {
        rt_subject_destroy(&self->subject);
        rt_memory_limit_lift(&self->limit);
        rt_fail(&self->refusal, status, "the limit of memory was met at the set-up: %.180s", why->text);
        return RT_OK;
    }
    return status;
}

static rt_status build_parts(rt_run *self, rt_message *why) {
    const rt_status status = write_manifest(self);
    if (status != RT_OK) {
        return rt_fail(why, status, "the manifest could not be written (%s); free some memory",
                       rt_status_text(status));
    }
    return build_limited(self, why);
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
    rt_subject_destroy(&self->subject);
    rt_memory_limit_lift(&self->limit);
    rt_json_destroy(self->record);
    rt_json_destroy(self->manifest);
    free(self);
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
    rt_message verified = {""}, broke_off = {""}, cause = {""};
    rt_workload_result result = {.phase = RT_PHASE_SETUP};
    rt_record record = {.options = &self->options,
                        .result = &result,
                        .subject = &self->subject,
                        .sampler = self->sampler,
                        .memory_at_create = self->memory_at_create,
                        .load_average = self->environment.load_average};
    rt_status status = rt_run_measure(self, &record, &result, &verified, &broke_off);
    if (status != RT_OK && result.phase == RT_PHASE_SETUP && self->refusal.text[0] == '\0') {
        *why = broke_off; /* nothing of the run is known */
        return status;
    }
    rt_run_judge(self, &verified, &broke_off, &record, &cause);
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
    rt_subject_request_stop(&self->subject);
}

void rt_run_progress_read(rt_run *self, rt_run_progress *out) {
    rt_workload_progress progress;
    rt_subject_progress(&self->subject, &progress);
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
