#include "rt_context_experiment.h"

#include "rt_context_rewrite.h"
#include "rt_memory.h"

#include <stdatomic.h>
#include <string.h>

#define SEED_OF_PLACES UINT64_C(0x636f6e74657874)
#define SEED_OF_BYTES UINT64_C(0x726577726974652e)

typedef enum context_step {
    SETUP,
    LOAD,
    OVERVIEW,
    SNAPSHOT,
    REWRITE,
    ROLLBACK,
    SERIALISE,
    SPILL,
    RESTORE,
    FINISHED
} context_step;

static const char *const step_names[] = {"setup",    "load",      "overview", "snapshot", "rewrite",
                                         "rollback", "serialise", "spill",    "restore",  "finished"};

struct rt_context_experiment {
    rt_context_experiment_options options;
    rt_context_store *store;       /* NULL before the load */
    rt_context_snapshot *snapshot; /* NULL but between the steps snapshot and rollback */
    rt_context_experiment_result result;
    uint64_t clamped;
    _Atomic int step;
    _Atomic int stop_requested;
    _Atomic int executing, finished;
    _Atomic uint64_t tasks_begun, tasks_done, started_ns, finished_ns;
};

/* ---- create and destroy ---- */

static rt_status check_options(const rt_context_experiment_options *options, rt_message *why) {
    if (options->context_bytes == 0 || options->context_bytes > RT_CONTEXT_MAX_BYTES) {
        return rt_fail(why, RT_INVALID, "context_bytes is %llu; choose 1 to %llu",
                       (unsigned long long)options->context_bytes, (unsigned long long)RT_CONTEXT_MAX_BYTES);
    }
    if (options->rewrite_permille > 1000) {
        return rt_fail(why, RT_INVALID, "rewrite_permille is %u; choose 0 to 1000",
                       options->rewrite_permille);
    }
    if (options->overview_bytes == 0 || options->overview_bytes > RT_CONTEXT_OVERVIEW_MAX_BYTES) {
        return rt_fail(why, RT_INVALID, "overview_bytes is %u; choose 1 to %u", options->overview_bytes,
                       RT_CONTEXT_OVERVIEW_MAX_BYTES);
    }
    return RT_OK;
}

rt_status rt_context_experiment_create(const rt_context_experiment_options *options,
                                       rt_context_experiment **out, rt_message *why) {
    *out = NULL;
    const rt_status status = check_options(options, why);
    if (status != RT_OK) {
        return status;
    }
    rt_context_experiment *const self = rt_allocate(options->allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the context experiment; free some and run again");
    }
    self->options = *options;
    self->result.canonical_bytes = options->context_bytes;
    *out = self;
    return RT_OK;
}

void rt_context_experiment_destroy(rt_context_experiment *self) {
    if (self != NULL) {
        rt_context_snapshot_drop(self->snapshot);
        rt_context_store_destroy(self->store);
        rt_free(self->options.allocator, self);
    }
}

/* ---- the steps ---- */

static bool must_stop(const rt_context_experiment *self) {
    return atomic_load_explicit(&self->stop_requested, memory_order_relaxed) != 0;
}

static rt_status stopped(rt_message *why) {
    return rt_fail(why, RT_STOPPED, "the pass over the context was stopped on request");
}

static rt_status read_formula(void *context, uint64_t offset, uint8_t *piece, size_t count) {
    const rt_context_experiment *const self = context;
    if (must_stop(self)) {
        return RT_STOPPED;
    }
    rt_context_formula_fill(self->options.seed, offset, piece, count);
    return RT_OK;
}

static rt_status load(rt_context_experiment *self, rt_message *why) {
    const rt_status status =
        rt_context_store_create_from(self->options.allocator, self->options.context_bytes,
                                     (rt_context_source){read_formula, self}, &self->store, why);
    return status == RT_STOPPED ? stopped(why) : status;
}

static rt_status make_overview(rt_context_experiment *self, rt_message *why) {
    return rt_context_store_overview_make(self->store, self->options.overview_bytes, why);
}

static rt_status take_snapshot(rt_context_experiment *self, rt_message *why) {
    return rt_context_snapshot_take(self->store, &self->snapshot, why);
}

static rt_status rewrite(rt_context_experiment *self, rt_message *why) {
    const uint64_t chunks = rt_context_store_chunks(self->store);
    const uint64_t count = rt_context_rewrite_count(chunks, self->options.rewrite_permille);
    rt_status status = RT_OK;
    for (uint64_t i = 0; i < count && status == RT_OK; i++) {
        const uint64_t chunk =
            rt_context_rewrite_chunk(self->options.seed ^ SEED_OF_PLACES, i, count, chunks);
        status = must_stop(self)
                     ? stopped(why)
                     : rt_context_rewrite(self->store, chunk, self->options.seed ^ SEED_OF_BYTES, why);
        self->result.chunks_rewritten += status == RT_OK;
    }
    return status;
}

static rt_status roll_back(rt_context_experiment *self, rt_message *why) {
    (void)why;
    rt_context_store_rollback(self->store, self->snapshot);
    rt_context_snapshot_drop(self->snapshot);
    self->snapshot = NULL;
    return RT_OK;
}

typedef struct digest_sink {
    const rt_context_experiment *experiment;
    rt_digest digest;
} digest_sink;

static rt_status add_to_digest(void *context, const uint8_t *piece, size_t count) {
    digest_sink *const self = context;
    if (must_stop(self->experiment)) {
        return RT_STOPPED;
    }
    rt_digest_update(&self->digest, piece, count);
    return RT_OK;
}

static rt_status serialise(rt_context_experiment *self, rt_message *why) {
    digest_sink sink = {.experiment = self};
    rt_digest_init(&sink.digest);
    const rt_status status =
        rt_context_store_serialise(self->store, (rt_context_sink){add_to_digest, &sink}, why);
    if (status == RT_OK) {
        rt_digest_finish_hex(&sink.digest, self->result.serialised_sha256);
    }
    return status == RT_STOPPED ? stopped(why) : status;
}

static rt_status spill(rt_context_experiment *self, rt_message *why) {
    return rt_context_store_spill(self->store, self->options.directory, why);
}

static rt_status restore(rt_context_experiment *self, rt_message *why) {
    return rt_context_store_restore(self->store, why);
}

/* ---- between the steps: nothing of this is inside a step's time ---- */

static uint64_t read_anonymous(void) {
    rt_memory_usage usage;
    return rt_memory_read("", &usage) == RT_OK ? usage.rss_anon_bytes : 0;
}

static void observe(rt_context_experiment *self, context_step done) {
    rt_context_experiment_result *const result = &self->result;
    rt_context_bytes account;
    switch (done) {
    case LOAD:
        result->chunks = rt_context_store_chunks(self->store);
        result->checksum = rt_context_store_checksum(self->store);
        break;
    case OVERVIEW:
        result->overview_bytes = strlen(rt_context_store_overview(self->store));
        break;
    case REWRITE:
        rt_context_store_account(self->store, &account);
        result->chunks_shared = account.chunks_shared;
        result->rss_anon_with_snapshot_bytes = read_anonymous();
        result->checksum_rewritten = rt_context_store_checksum(self->store);
        break;
    case ROLLBACK:
        result->checksum_after_rollback = rt_context_store_checksum(self->store);
        break;
    case RESTORE:
        result->checksum_restored = rt_context_store_checksum(self->store);
        break;
    default:
        break;
    }
}

/* ---- execute ---- */

static rt_status do_step(rt_context_experiment *self, context_step step,
                         rt_status (*act)(rt_context_experiment *, rt_message *), uint64_t *time_ns,
                         rt_message *why) {
    const rt_clock *const clock = self->options.clock;
    if (must_stop(self)) {
        return stopped(why);
    }
    atomic_store(&self->step, step);
    const uint64_t start_ns = rt_clock_now_ns(clock);
    const rt_status status = act(self, why);
    *time_ns = rt_clock_interval_ns(start_ns, rt_clock_now_ns(clock), &self->clamped);
    if (status == RT_OK) {
        observe(self, step);
    }
    return status;
}

static rt_status do_steps(rt_context_experiment *self, rt_message *why) {
    rt_context_experiment_result *const result = &self->result;
    const struct {
        context_step step;
        rt_status (*act)(rt_context_experiment *, rt_message *);
        uint64_t *time_ns;
    } steps[] = {
        {LOAD, load, &result->load_ns},
        {OVERVIEW, make_overview, &result->overview_ns},
        {SNAPSHOT, take_snapshot, &result->snapshot_ns},
        {REWRITE, rewrite, &result->rewrite_ns},
        {ROLLBACK, roll_back, &result->rollback_ns},
        {SERIALISE, serialise, &result->serialise_ns},
        {SPILL, spill, &result->spill_ns},
        {RESTORE, restore, &result->restore_ns},
    };
    rt_status status = RT_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == RT_OK; i++) {
        status = do_step(self, steps[i].step, steps[i].act, steps[i].time_ns, why);
    }
    return status;
}

static void conclude(rt_context_experiment *self, rt_status status) {
    rt_memory_usage usage;
    if (rt_memory_read("", &usage) == RT_OK) {
        self->result.peak_rss_bytes = usage.peak_rss_bytes;
    }
    self->result.finished_ns = rt_clock_now_ns(self->options.clock);
    self->result.completed = status == RT_OK;
    atomic_store(&self->finished_ns, self->result.finished_ns);
    atomic_store(&self->tasks_done, status == RT_OK);
    if (status == RT_OK) {
        atomic_store(&self->step, FINISHED);
    }
    atomic_store(&self->executing, 0);
    atomic_store(&self->finished, 1);
}

rt_status rt_context_experiment_execute(rt_context_experiment *self, rt_message *why) {
    int no = 0;
    if (atomic_load(&self->finished) || !atomic_compare_exchange_strong(&self->executing, &no, 1)) {
        return rt_fail(why, RT_BUSY, "this pass was executed already; create another");
    }
    rt_context_experiment_result *const result = &self->result;
    result->rss_anon_before_bytes = read_anonymous();
    result->started_at_s = rt_clock_wall_s(self->options.clock);
    result->started_ns = rt_clock_now_ns(self->options.clock);
    atomic_store(&self->started_ns, result->started_ns);
    atomic_store(&self->tasks_begun, RT_CONTEXT_EXPERIMENT_TASKS);
    const rt_status status = do_steps(self, why);
    conclude(self, status);
    return status;
}

void rt_context_experiment_request_stop(rt_context_experiment *self) {
    atomic_store(&self->stop_requested, 1);
}

void rt_context_experiment_progress(const rt_context_experiment *self, rt_experiment_progress *out) {
    const bool finished = atomic_load(&self->finished) != 0;
    const uint64_t start_ns = atomic_load(&self->started_ns);
    const uint64_t end_ns = finished ? atomic_load(&self->finished_ns) : rt_clock_now_ns(self->options.clock);
    *out = (rt_experiment_progress){.step = step_names[atomic_load(&self->step)],
                                    .executing = atomic_load(&self->executing) != 0,
                                    .finished = finished,
                                    .tasks = RT_CONTEXT_EXPERIMENT_TASKS,
                                    .tasks_begun = atomic_load(&self->tasks_begun),
                                    .tasks_done = atomic_load(&self->tasks_done),
                                    .elapsed_ns = start_ns != 0 && end_ns > start_ns ? end_ns - start_ns : 0};
}

/* ---- the proof ---- */

/* What a serialisation of the content by formula would have been. */
static void digest_formula(const rt_context_experiment *self, char hex[RT_DIGEST_HEX_BYTES]) {
    const uint64_t bytes = self->options.context_bytes;
    uint8_t piece[8192];
    rt_digest digest;
    rt_digest_init(&digest);
    for (uint64_t offset = 0; offset < bytes; offset += sizeof piece) {
        const uint64_t left = bytes - offset;
        const size_t count = left < sizeof piece ? (size_t)left : sizeof piece;
        rt_context_formula_fill(self->options.seed, offset, piece, count);
        rt_digest_update(&digest, piece, count);
    }
    rt_digest_finish_hex(&digest, hex);
}

static const char *first_difference(const rt_context_experiment_result *result, const char *sha256) {
    const struct {
        const char *name;
        bool holds;
    } rules[] = {
        {"checksum", result->checksum == result->checksum_expected},
        {"checksum_rewritten",
         (result->checksum_rewritten != result->checksum) == (result->chunks_rewritten > 0)},
        {"checksum_after_rollback", result->checksum_after_rollback == result->checksum},
        {"checksum_restored", result->checksum_restored == result->checksum},
        {"serialised_sha256", strcmp(result->serialised_sha256, sha256) == 0},
        {"chunks_shared", result->chunks_shared == result->chunks - result->chunks_rewritten},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].holds) {
            return rules[i].name;
        }
    }
    return NULL;
}

rt_status rt_context_experiment_verify(rt_context_experiment *self, rt_message *why) {
    char sha256[RT_DIGEST_HEX_BYTES];
    if (!atomic_load(&self->finished)) {
        return rt_fail(why, RT_BUSY, "the pass is not finished; execute it first");
    }
    if (!self->result.completed) {
        return rt_fail(why, RT_FAILED, "the pass ended in its step %s", step_names[atomic_load(&self->step)]);
    }
    self->result.checksum_expected =
        rt_context_expected_checksum(self->options.seed, self->options.context_bytes);
    digest_formula(self, sha256);
    const char *const difference = first_difference(&self->result, sha256);
    self->result.passed = difference == NULL;
    return difference == NULL ? RT_OK
                              : rt_fail(why, RT_FAILED, "%s is not what the formula requires", difference);
}

/* ---- the result ---- */

rt_status rt_context_experiment_result_read(const rt_context_experiment *self,
                                            rt_context_experiment_result *out) {
    if (!atomic_load(&self->finished)) {
        return RT_BUSY;
    }
    *out = self->result;
    return RT_OK;
}

static void write_bytes(rt_json *json, const char *key, uint64_t bytes) {
    if (bytes == 0) {
        rt_json_null(json, key); /* the kernel did not tell */
    } else {
        rt_json_uint(json, key, bytes);
    }
}

static void write_times(const rt_context_experiment_result *result, rt_json *json) {
    const struct {
        const char *key;
        uint64_t ns;
    } times[] = {
        {"load_ms", result->load_ns},         {"overview_ms", result->overview_ns},
        {"snapshot_ms", result->snapshot_ns}, {"rewrite_ms", result->rewrite_ns},
        {"rollback_ms", result->rollback_ns}, {"serialise_ms", result->serialise_ns},
        {"spill_ms", result->spill_ns},       {"restore_ms", result->restore_ns},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        rt_json_double(json, times[i].key, (double)times[i].ns / 1e6);
    }
}

static void write_memory(const rt_context_experiment_result *result, rt_json *json) {
    write_bytes(json, "peak_rss_bytes", result->peak_rss_bytes);
    if (result->peak_rss_bytes == 0) {
        rt_json_null(json, "peak_over_canonical");
    } else {
        rt_json_double(json, "peak_over_canonical",
                       (double)result->peak_rss_bytes / (double)result->canonical_bytes);
    }
    write_bytes(json, "rss_anon_before_bytes", result->rss_anon_before_bytes);
    write_bytes(json, "rss_anon_with_snapshot_bytes", result->rss_anon_with_snapshot_bytes);
}

void rt_context_experiment_write(const rt_context_experiment *self, rt_json *json, const char *key) {
    const rt_context_experiment_result *const result = &self->result;
    if (!result->completed) {
        return;
    }
    rt_json_object_begin(json, key);
    rt_json_uint(json, "canonical_bytes", result->canonical_bytes);
    rt_json_uint(json, "overview_bytes", result->overview_bytes);
    write_times(result, json);
    rt_json_uint(json, "chunks", result->chunks);
    rt_json_uint(json, "chunks_rewritten", result->chunks_rewritten);
    rt_json_uint(json, "chunks_shared", result->chunks_shared);
    write_memory(result, json);
    rt_json_hex64(json, "checksum", result->checksum);
    rt_json_hex64(json, "checksum_expected", result->checksum_expected);
    rt_json_hex64(json, "checksum_rewritten", result->checksum_rewritten);
    rt_json_hex64(json, "checksum_after_rollback", result->checksum_after_rollback);
    rt_json_hex64(json, "checksum_restored", result->checksum_restored);
    rt_json_string(json, "serialised_sha256", result->serialised_sha256);
    rt_json_object_end(json);
}

uint64_t rt_context_experiment_bytes(const rt_context_experiment *self) {
    rt_context_bytes bytes = {.content_bytes = 0};
    if (self->store != NULL) {
        rt_context_store_account(self->store, &bytes);
    }
    return bytes.content_bytes + bytes.copy_bytes + bytes.table_bytes;
}
