#include "rt_context_experiment.h"

#include "rt_context_store.h"

#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define CHUNK ((uint64_t)RT_CONTEXT_CHUNK_BYTES)
#define BYTES (30u * CHUNK + 1000u)

static rt_allocator allocator;

static rt_context_experiment_options default_options(void) {
    return (rt_context_experiment_options){.allocator = &allocator,
                                           .clock = &rt_clock_machine,
                                           .seed = 1,
                                           .context_bytes = BYTES,
                                           .rewrite_permille = 100,
                                           .overview_bytes = 3900};
}

static rt_context_experiment *experiment_of(rt_context_experiment_options options) {
    rt_context_experiment *experiment;
    CHECK_UINT(RT_OK, rt_context_experiment_create(&options, &experiment, NULL));
    return experiment;
}

static rt_context_experiment_result result_of(const rt_context_experiment *experiment) {
    rt_context_experiment_result result;
    CHECK_UINT(RT_OK, rt_context_experiment_result_read(experiment, &result));
    return result;
}

static rt_experiment_progress progress_of(const rt_context_experiment *experiment) {
    rt_experiment_progress progress;
    rt_context_experiment_progress(experiment, &progress);
    return progress;
}

static void a_pass_does_every_step_and_proves_it(void) {
    rt_context_experiment *const experiment = experiment_of(default_options());
    CHECK_TEXT("setup", progress_of(experiment).step);
    CHECK_UINT(0, progress_of(experiment).tasks_begun);
    CHECK_UINT(0, progress_of(experiment).elapsed_ns);
    CHECK_UINT(RT_BUSY, rt_context_experiment_verify(experiment, NULL));
    CHECK_UINT(RT_OK, rt_context_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_context_experiment_verify(experiment, NULL));
    const rt_context_experiment_result result = result_of(experiment);
    const uint64_t expected = rt_context_expected_checksum(1, BYTES);
    CHECK(result.completed && result.passed);
    CHECK_UINT(BYTES, result.canonical_bytes);
    CHECK_UINT(31, result.chunks);
    CHECK_UINT(4, result.chunks_rewritten); /* 3.1, rounded up */
    CHECK_UINT(27, result.chunks_shared);
    CHECK_UINT(
        70 + 30 * 67 + 66,
        result.overview_bytes); /* a line of 70 bytes, 31 of sections: 10 digits, the size, 16 and 32 */
    CHECK_UINT(expected, result.checksum);
    CHECK_UINT(expected, result.checksum_expected);
    CHECK_UINT(expected, result.checksum_after_rollback);
    CHECK_UINT(expected, result.checksum_restored);
    CHECK(result.checksum_rewritten != expected);
    CHECK_UINT(64, strlen(result.serialised_sha256));
    CHECK(result.peak_rss_bytes > BYTES);
    CHECK(result.rss_anon_with_snapshot_bytes > 0);
    CHECK(result.finished_ns >= result.started_ns && result.started_at_s > 0);
    CHECK_TEXT("finished", progress_of(experiment).step);
    CHECK(progress_of(experiment).finished && !progress_of(experiment).executing);
    CHECK_UINT(1, progress_of(experiment).tasks);
    CHECK_UINT(1, progress_of(experiment).tasks_begun);
    CHECK_UINT(1, progress_of(experiment).tasks_done);
    CHECK_UINT(result.finished_ns - result.started_ns, progress_of(experiment).elapsed_ns);
    CHECK_UINT(RT_BUSY, rt_context_experiment_execute(experiment, NULL));
    rt_context_experiment_destroy(experiment);
}

/* SHA-256 of the first 3 bytes of splitmix64 from seed 1234567, 85 fc 08 (see test_rt_context_formula), by sha256sum. */
static void the_serialisation_is_the_content(void) {
    rt_context_experiment_options options = default_options();
    options.seed = 1234567;
    options.context_bytes = 3;
    rt_context_experiment *const experiment = experiment_of(options);
    CHECK_UINT(RT_OK, rt_context_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_context_experiment_verify(experiment, NULL));
    CHECK_TEXT("67ea534c614531c1075324506f427c403e4b92573846bfe4b4df4428a47414fc",
               result_of(experiment).serialised_sha256);
    rt_context_experiment_destroy(experiment);
}

static void nothing_rewritten_leaves_everything_shared(void) {
    rt_context_experiment_options options = default_options();
    options.rewrite_permille = 0;
    rt_context_experiment *const experiment = experiment_of(options);
    CHECK_UINT(RT_OK, rt_context_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_context_experiment_verify(experiment, NULL));
    CHECK_UINT(31, result_of(experiment).chunks_shared);
    CHECK_UINT(result_of(experiment).checksum, result_of(experiment).checksum_rewritten);
    rt_context_experiment_destroy(experiment);
}

static void a_stop_before_the_start_does_no_step(void) {
    rt_message why;
    rt_context_experiment *const experiment = experiment_of(default_options());
    rt_context_experiment_request_stop(experiment);
    CHECK_UINT(RT_STOPPED, rt_context_experiment_execute(experiment, &why));
    CHECK_TEXT("the pass over the context was stopped on request", why.text);
    CHECK_UINT(RT_FAILED, rt_context_experiment_verify(experiment, &why));
    CHECK_TEXT("the pass ended in its step setup", why.text);
    CHECK(!result_of(experiment).completed && !result_of(experiment).passed);
    CHECK_UINT(0, progress_of(experiment).tasks_done);
    CHECK_UINT(0, rt_context_experiment_bytes(experiment));
    rt_context_experiment_destroy(experiment);
}

/* The clock is asked before and after each step: at the given call somebody asks to stop. */
typedef struct stopping_clock {
    rt_context_experiment *experiment;
    uint64_t calls, stop_at;
} stopping_clock;

static uint64_t count_and_stop(void *context) {
    stopping_clock *const self = context;
    if (++self->calls == self->stop_at) {
        rt_context_experiment_request_stop(self->experiment);
    }
    return self->calls;
}

static void a_stop_in_any_step_is_obeyed_and_named(void) {
    static const char *const steps[] = {"load", "overview", "snapshot", "rewrite", "rollback", "serialise"};
    for (uint64_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        stopping_clock at = {.stop_at = 2 + 2 * i}; /* the first call is of execute itself */
        const rt_clock clock = {.now_ns = count_and_stop, .context = &at};
        rt_context_experiment_options options = default_options();
        char expected[64];
        rt_message why;
        options.clock = &clock;
        at.experiment = experiment_of(options);
        CHECK_UINT(RT_STOPPED, rt_context_experiment_execute(at.experiment, &why));
        CHECK_TEXT(steps[i], progress_of(at.experiment).step);
        snprintf(expected, sizeof expected, "the pass ended in its step %s", steps[i]);
        CHECK_UINT(RT_FAILED, rt_context_experiment_verify(at.experiment, &why));
        CHECK_TEXT(expected, why.text);
        rt_context_experiment_destroy(at.experiment);
    }
}

static void a_full_disk_ends_the_pass_in_its_step(void) {
    struct rlimit before;
    rt_message why;
    signal(SIGXFSZ, SIG_IGN);
    rt_context_experiment *const experiment = experiment_of(default_options());
    CHECK_UINT(0, getrlimit(RLIMIT_FSIZE, &before));
    const struct rlimit small = {CHUNK, before.rlim_max};
    CHECK_UINT(0, setrlimit(RLIMIT_FSIZE, &small));
    CHECK_UINT(RT_IO, rt_context_experiment_execute(experiment, &why));
    CHECK_UINT(0, setrlimit(RLIMIT_FSIZE, &before));
    CHECK(strstr(why.text, "File too large") != NULL);
    CHECK_TEXT("spill", progress_of(experiment).step);
    CHECK(result_of(experiment).serialised_sha256[0] != '\0');
    CHECK(rt_context_experiment_bytes(experiment) >= BYTES); /* HOT as before */
    rt_context_experiment_destroy(experiment);
}

static void a_folder_that_is_missing_is_reported(void) {
    rt_context_experiment_options options = default_options();
    rt_message why;
    options.directory = "/nonexistent-folder";
    rt_context_experiment *const experiment = experiment_of(options);
    CHECK_UINT(RT_IO, rt_context_experiment_execute(experiment, &why));
    CHECK(strstr(why.text, "(No such file or directory)") != NULL);
    rt_context_experiment_destroy(experiment);
}

static void no_memory_ends_the_pass_and_leaves_nothing(void) {
    for (uint64_t more = 2; more <= 9; more++) {
        rt_allocator failing;
        rt_allocator_init(&failing, more);
        rt_context_experiment_options options = default_options();
        options.allocator = &failing;
        rt_context_experiment *const experiment = experiment_of(options);
        rt_message why = {""};
        CHECK_UINT(RT_NO_MEMORY, rt_context_experiment_execute(experiment, &why));
        CHECK(why.text[0] != '\0');
        rt_context_experiment_destroy(experiment);
        CHECK_UINT(0, failing.live_objects);
    }
}

static void options_out_of_range_are_refused(void) {
    static const struct {
        uint64_t bytes;
        uint32_t permille, overview;
        const char *message;
    } wrong[] = {
        {0, 1, 1, "context_bytes is 0; choose 1 to 1099511627776"},
        {1, 1001, 1, "rewrite_permille is 1001; choose 0 to 1000"},
        {1, 1, 0, "overview_bytes is 0; choose 1 to 1048576"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rt_context_experiment_options options = default_options();
        rt_context_experiment *experiment = (rt_context_experiment *)&allocator;
        rt_message why;
        options.context_bytes = wrong[i].bytes;
        options.rewrite_permille = wrong[i].permille;
        options.overview_bytes = wrong[i].overview;
        CHECK_UINT(RT_INVALID, rt_context_experiment_create(&options, &experiment, &why));
        CHECK(experiment == NULL);
        CHECK_TEXT(wrong[i].message, why.text);
    }
}

static void the_record_holds_the_object_of_a_whole_pass_only(void) {
    rt_context_experiment *experiment = experiment_of(default_options());
    rt_json *json;
    const char *text;
    CHECK_UINT(RT_OK, rt_context_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_context_experiment_verify(experiment, NULL));
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_context_experiment_write(experiment, json, NULL);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    CHECK(strstr(text, "{\"canonical_bytes\":1967080,\"overview_bytes\":") == text);
    CHECK(strstr(text, "\"chunks\":31,\"chunks_rewritten\":4,\"chunks_shared\":27,") != NULL);
    CHECK(strstr(text, "null") == NULL);
    rt_json_destroy(json);
    rt_context_experiment_destroy(experiment);

    experiment = experiment_of(default_options());
    rt_context_experiment_request_stop(experiment);
    CHECK_UINT(RT_STOPPED, rt_context_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_json_object_begin(json, NULL);
    rt_context_experiment_write(experiment, json, "context");
    rt_json_object_end(json);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    CHECK_TEXT("{}", text);
    rt_json_destroy(json);
    rt_context_experiment_destroy(experiment);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    a_pass_does_every_step_and_proves_it();
    the_serialisation_is_the_content();
    nothing_rewritten_leaves_everything_shared();
    a_stop_before_the_start_does_no_step();
    a_stop_in_any_step_is_obeyed_and_named();
    a_full_disk_ends_the_pass_in_its_step();
    a_folder_that_is_missing_is_reported();
    no_memory_ends_the_pass_and_leaves_nothing();
    options_out_of_range_are_refused();
    the_record_holds_the_object_of_a_whole_pass_only();
    rt_context_experiment_destroy(NULL);
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
