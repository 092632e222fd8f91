#include "rt_manifest.h"

#include "rt_build.h"

/* The reasons met so far; they are written when every fact is. */
typedef struct reasons {
    struct {
        const char *key, *reason;
    } entries[32];
    size_t count;
} reasons;

static bool known(rt_json *json, const char *key, const char *missing, reasons *why) {
    if (missing == NULL) {
        return true;
    }
    rt_json_null(json, key);
    why->entries[why->count].key = key;
    why->entries[why->count].reason = missing;
    why->count++;
    return false;
}

static void write_text(rt_json *json, const char *key, const rt_fact_text *fact, reasons *why) {
    if (known(json, key, fact->missing, why)) {
        rt_json_string(json, key, fact->value);
    }
}

static void write_uint(rt_json *json, const char *key, const rt_fact_uint *fact, reasons *why) {
    if (known(json, key, fact->missing, why)) {
        rt_json_uint(json, key, fact->value);
    }
}

static void write_bool(rt_json *json, const char *key, const rt_fact_uint *fact, reasons *why) {
    if (known(json, key, fact->missing, why)) {
        rt_json_bool(json, key, fact->value != 0);
    }
}

static void write_double(rt_json *json, const char *key, const rt_fact_double *fact, reasons *why) {
    if (known(json, key, fact->missing, why)) {
        rt_json_double(json, key, fact->value);
    }
}

static void write_machine(rt_json *json, const rt_machine *machine, reasons *why) {
    rt_json_object_begin(json, "machine");
    write_text(json, "cpu_model", &machine->cpu_model, why);
    write_uint(json, "cores", &machine->cores, why);
    write_uint(json, "memory_bytes", &machine->memory_bytes, why);
    write_text(json, "os_build", &machine->os_build, why);
    write_text(json, "virtualisation", &machine->virtualisation, why);
    write_text(json, "platform", &machine->platform, why);
    rt_json_object_end(json);
}

static void write_origin(rt_json *json, reasons *why) {
    rt_fact_text revision, library, id;
    rt_fact_uint dirty, equals_release;
    rt_build_revision(&revision);
    rt_build_dirty(&dirty);
    rt_build_library(&library);
    rt_build_id(&id);
    rt_build_equals_release(&equals_release);
    write_text(json, "revision", &revision, why);
    write_bool(json, "dirty", &dirty, why);
    write_text(json, "library_sha256", &library, why);
    write_text(json, "build_id", &id, why);
    write_bool(json, "equals_release", &equals_release, why);
}

static void write_environment(rt_json *json, const rt_environment *environment, reasons *why) {
    write_uint(json, "memory_channels", &environment->memory_channels, why);
    write_text(json, "storage_type", &environment->storage_type, why);
    write_text(json, "container", &environment->container, why);
    write_double(json, "cgroup_cpu_limit", &environment->cgroup_cpu_limit, why);
    write_uint(json, "cgroup_memory_limit_bytes", &environment->cgroup_memory_limit_bytes, why);
    write_text(json, "governor", &environment->governor, why);
    write_uint(json, "frequency_khz", &environment->frequency_khz, why);
    write_text(json, "power_source", &environment->power_source, why);
    write_double(json, "temperature_c", &environment->temperature_c, why);
    write_text(json, "clock_source", &environment->clock_source, why);
}

static void write_optional(rt_json *json, const char *key, const char *value) {
    if (value == NULL) {
        rt_json_null(json, key);
    } else {
        rt_json_string(json, key, value);
    }
}

/* The words for what rt_scheduler.h states about the six times of a task: the timing map of the pages is drawn
 * from this table and the next one. */
static const struct {
    const char *stage, *taken, *thread, *lock, *read_per;
} STAMPS[] = {
    {"submitted",
     "before the call that hands the tasks over; one reading for all tasks of the call, in an open loop the "
     "time at which each task was due",
     "the submitting thread", NULL, "call"},
    {"admitted", "when the task enters the ready queue; one reading for all tasks of a submit call",
     "the submitting thread", "the scheduler's mutex", "call"},
    {"dequeued",
     "when a worker takes its batch; one reading for all tasks of the batch, the same as `finalised` of the "
     "batch that this worker ran before; of a suspended task the first one",
     "a worker", "the scheduler's mutex", "batch"},
    {"runner_start", "just before the runner; one reading a task; of a suspended task the first one",
     "a worker", NULL, "task"},
    {"runner_end",
     "just after the runner, by the worker that ran it last; one reading a task; the same as runner_start of a task whose runner never started",
     "a worker", NULL, "task"},
    {"finalised", "when the result becomes visible; one reading for all tasks of a batch",
     "a worker", "the scheduler's mutex", "batch"},
};

static const struct {
    const char *name, *from, *to, *histogram, *what;
} INTERVALS[] = {
    {"queue", "submitted", "runner_start", "queue",
     "waiting for admission, in the ready queue and in the batch of a worker"},
    {"admission", "submitted", "admitted", NULL,
     "the part of queue before the ready queue; in an open loop also how late the submitter is"},
    {"ready queue", "admitted", "dequeued", NULL, "the part of queue in the ready queue"},
    {"batch", "dequeued", "runner_start", NULL,
     "the part of queue behind the tasks before it in the batch of its worker"},
    {"execution", "runner_start", "runner_end", "execution",
     "the runner, and all that the task was suspended for"},
    {"finalisation", "runner_end", "finalised", "finalisation",
     "behind the tasks after it in the batch, then for the mutex"},
    {"end to end", "submitted", "finalised", "end_to_end",
     "queue + execution + finalisation, exactly and task by task"},
};

static void write_timestamps(rt_json *json) {
    rt_json_array_begin(json, "timestamps");
    for (size_t i = 0; i < sizeof STAMPS / sizeof *STAMPS; i++) {
        rt_json_object_begin(json, NULL);
        rt_json_string(json, "stage", STAMPS[i].stage);
        rt_json_string(json, "taken", STAMPS[i].taken);
        rt_json_bool(json, "under_lock", STAMPS[i].lock != NULL);
        rt_json_string(json, "thread", STAMPS[i].thread);
        write_optional(json, "lock", STAMPS[i].lock);
        rt_json_string(json, "read_per", STAMPS[i].read_per);
        rt_json_object_end(json);
    }
    rt_json_array_end(json);
}

static void write_intervals(rt_json *json) {
    rt_json_array_begin(json, "intervals");
    for (size_t i = 0; i < sizeof INTERVALS / sizeof *INTERVALS; i++) {
        rt_json_object_begin(json, NULL);
        rt_json_string(json, "name", INTERVALS[i].name);
        rt_json_string(json, "from", INTERVALS[i].from);
        rt_json_string(json, "to", INTERVALS[i].to);
        write_optional(json, "histogram", INTERVALS[i].histogram);
        rt_json_string(json, "what", INTERVALS[i].what);
        rt_json_object_end(json);
    }
    rt_json_array_end(json);
}

void rt_manifest_write(rt_json *json, const char *key, const rt_machine *machine,
                       const rt_environment *environment) {
    reasons why = {.count = 0};
    rt_json_object_begin(json, key);
    rt_build_write(json, "build");
    write_machine(json, machine, &why);
    write_origin(json, &why);
    write_environment(json, environment, &why);
    write_timestamps(json);
    write_intervals(json);
    rt_json_object_begin(json, "unavailable");
    for (size_t i = 0; i < why.count; i++) {
        rt_json_string(json, why.entries[i].key, why.entries[i].reason);
    }
    rt_json_object_end(json);
    rt_json_object_end(json);
}
