#include "rt_lookup_experiment.h"

#include "check.h"

#include <stdatomic.h>

static rt_allocator allocator;

static rt_lookup_experiment_options options_of(uint32_t agents, uint64_t tasks) {
    return (rt_lookup_experiment_options){
        .allocator = &allocator, .clock = &rt_clock_machine, .seed = 7, .tasks = tasks, .agents = agents};
}

static rt_lookup_experiment *experiment_of(uint32_t agents, uint64_t tasks) {
    const rt_lookup_experiment_options options = options_of(agents, tasks);
    rt_lookup_experiment *experiment;
    CHECK_UINT(RT_OK, rt_lookup_experiment_create(&options, &experiment, NULL));
    return experiment;
}

/* The counts follow from agents and tasks alone: half of the lookups (an odd one is a hit), half of the roles. */
static void every_count_is_what_the_formula_says(void) {
    static const struct {
        uint32_t agents;
        uint64_t tasks, found, not_found, removed, readings;
    } cases[] = {{1, 1, 1, 0, 0, 1},
                 {2, 2, 1, 1, 1, 1},
                 {3, 33, 17, 16, 1, 2},
                 {1000, 10001, 5001, 5000, 500, 313},
                 {20000, 64, 32, 32, 10000, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rt_lookup_experiment *const experiment = experiment_of(cases[i].agents, cases[i].tasks);
        rt_lookup_experiment_result result;
        rt_message why = {""};
        CHECK_UINT(RT_BUSY, rt_lookup_experiment_result_read(experiment, &result));
        CHECK_UINT(RT_BUSY, rt_lookup_experiment_verify(experiment, &why));
        CHECK_UINT(RT_OK, rt_lookup_experiment_execute(experiment, &why));
        CHECK_UINT(RT_OK, rt_lookup_experiment_verify(experiment, &why));
        CHECK_UINT(RT_OK, rt_lookup_experiment_result_read(experiment, &result));
        CHECK(result.completed && result.passed);
        CHECK_UINT(cases[i].agents, result.roles);
        CHECK_UINT(cases[i].agents, result.built.roles);
        CHECK_UINT(cases[i].removed, result.removed);
        CHECK_UINT(cases[i].found, result.lookups.found);
        CHECK_UINT(cases[i].not_found, result.lookups.not_found);
        CHECK_UINT(cases[i].found, result.lookups_after_removal.found);
        CHECK_UINT(cases[i].not_found, result.lookups_after_removal.not_found);
        CHECK_UINT(0, result.lookups.wrong + result.lookups_after_removal.wrong);
        CHECK_UINT(cases[i].readings, rt_lookup_experiment_histogram(experiment, RT_LOOKUP_HIT)->count);
        CHECK(result.finished_ns > result.started_ns && result.build_ns > 0);
        CHECK_UINT(RT_BUSY, rt_lookup_experiment_execute(experiment, &why));
        rt_lookup_experiment_destroy(experiment);
    }
}

static void no_tombstone_stays_after_a_removal(void) {
    rt_lookup_experiment *const experiment = experiment_of(4000, 100);
    rt_lookup_experiment_result result;
    CHECK_UINT(RT_OK, rt_lookup_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_lookup_experiment_result_read(experiment, &result));
    CHECK_UINT(2000, result.after_removal.roles);
    CHECK_UINT(result.built.places, result.after_removal.places);
    CHECK(result.after_removal.probes * 2 < result.built.probes + 1);
    CHECK(result.after_removal.collisions * 2 < result.built.collisions);
    CHECK(result.built.registry_bytes > result.built.index_bytes);
    rt_lookup_experiment_destroy(experiment);
}

static atomic_uint_fast64_t ticks;
static rt_lookup_experiment *to_stop;
static uint64_t stop_at;

static uint64_t ticking_ns(void *context) {
    (void)context;
    const uint64_t tick = atomic_fetch_add(&ticks, 1) + 1;
    if (tick == stop_at) {
        rt_lookup_experiment_request_stop(to_stop);
    }
    return tick * 1000;
}

/* Within the step `lookup`: 202 readings measure the clock, 2 + 2 * 63 build, then each batch reads twice. */
static void a_stop_ends_it_after_the_batch_in_hand(void) {
    const rt_clock clock = {.now_ns = ticking_ns};
    rt_lookup_experiment_options options = options_of(1000, 1000000);
    rt_experiment_progress progress;
    rt_message why = {""};
    options.clock = &clock;
    stop_at = 3000;
    CHECK_UINT(RT_OK, rt_lookup_experiment_create(&options, &to_stop, NULL));
    CHECK_UINT(RT_STOPPED, rt_lookup_experiment_execute(to_stop, &why));
    rt_lookup_experiment_progress(to_stop, &progress);
    CHECK_TEXT("lookup", progress.step);
    CHECK(progress.finished && !progress.executing);
    CHECK_UINT(1000000, progress.tasks);
    CHECK(progress.tasks_done > 0 && progress.tasks_done < 1000000);
    CHECK_UINT(RT_FAILED, rt_lookup_experiment_verify(to_stop, &why));
    CHECK_TEXT("the last step is not what the formulas require", why.text);
    rt_json *json;
    const char *text;
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_lookup_experiment_write(to_stop, json, NULL);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    CHECK(strstr(text, "\"remove_ns_per_role\":null") != NULL);
    CHECK(strstr(text, "\"unavailable\":{\"remove_ns_per_role\":\"the run ended before this step\"") != NULL);
    rt_json_destroy(json);
    rt_lookup_experiment_destroy(to_stop);
}

/* The clock ticks 1,000 ns a reading: a batch takes one tick, so each lookup of it 63 (1000 / 16, rounded). */
static void a_value_is_the_mean_of_a_batch(void) {
    const rt_clock clock = {.now_ns = ticking_ns};
    rt_lookup_experiment_options options = options_of(100, 320);
    rt_lookup_experiment *experiment;
    rt_lookup_experiment_result result;
    options.clock = &clock;
    stop_at = 0;
    CHECK_UINT(RT_OK, rt_lookup_experiment_create(&options, &experiment, NULL));
    CHECK_UINT(RT_OK, rt_lookup_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_lookup_experiment_result_read(experiment, &result));
    CHECK_UINT(1000, result.clock_read_ns);
    CHECK_UINT(8 * 1000, result.build_ns); /* create, and 7 batches of at most 16 roles */
    CHECK_UINT(4 * 1000, result.remove_ns);
    for (int which = 0; which < RT_LOOKUP_TIMES; which++) {
        const rt_histogram *const times = rt_lookup_experiment_histogram(experiment, (rt_lookup_times)which);
        CHECK_UINT(10, times->count);
        CHECK_UINT(63, times->min_ns);
        CHECK_UINT(63, times->max_ns);
    }
    rt_lookup_experiment_destroy(experiment);
}

static void the_object_has_every_member(void) {
    static const char *const members[] = {
        "roles",           "build_ms",        "build_ns_per_role",     "index_bytes",
        "bytes_per_role",  "load_factor",     "longest_probe",         "mean_probe",
        "collisions",      "hit_ns_p50",      "hit_ns_p99",            "miss_ns_p50",
        "miss_ns_p99",     "removed",         "remove_ns_per_role",    "mean_probe_after_removal",
        "clock_read_ns",   "found",           "add_again_ns_per_role", "lookups_per_reading",
        "not_found",       "wrong",           "found_after_removal",   "longest_probe_after_removal",
        "not_found_after_removal", "after_removal_hit_ns_p50", "after_removal_miss_ns_p50"};
    rt_lookup_experiment *const experiment = experiment_of(10, 20);
    rt_json *json;
    const char *text;
    CHECK_UINT(RT_OK, rt_lookup_experiment_execute(experiment, NULL));
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_lookup_experiment_write(experiment, json, NULL);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        char quoted[48];
        snprintf(quoted, sizeof quoted, "\"%s\":", members[i]);
        CHECK(strstr(text, quoted) != NULL);
    }
    CHECK(strstr(text, "null") == NULL);
    CHECK(strstr(text, "\"unavailable\":{}") != NULL);
    rt_json_destroy(json);
    rt_lookup_experiment_destroy(experiment);
}

static void options_out_of_range_are_refused(void) {
    rt_lookup_experiment *experiment;
    rt_message why;
    rt_lookup_experiment_options options = options_of(0, 1);
    CHECK_UINT(RT_INVALID, rt_lookup_experiment_create(&options, &experiment, &why));
    CHECK_TEXT("agents is 0; choose 1 to 1000000 registered roles", why.text);
    options = options_of(1, 0);
    CHECK_UINT(RT_INVALID, rt_lookup_experiment_create(&options, &experiment, &why));
    CHECK_TEXT("tasks is 0; choose 1 to 1099511627776 lookups", why.text);
    CHECK(experiment == NULL);
}

static void no_memory_at_any_allocation_leaves_nothing_behind(void) {
    rt_status status = RT_NO_MEMORY;
    for (uint64_t fail_at = 1; status != RT_OK; fail_at++) {
        rt_allocator failing;
        rt_lookup_experiment *experiment;
        rt_allocator_init(&failing, fail_at);
        rt_lookup_experiment_options options = options_of(3, 2);
        options.allocator = &failing;
        status = rt_lookup_experiment_create(&options, &experiment, NULL);
        if (status == RT_OK) {
            status = rt_lookup_experiment_execute(experiment, NULL);
            rt_lookup_experiment_verify(experiment, NULL);
        }
        CHECK(status == RT_OK || status == RT_NO_MEMORY);
        rt_lookup_experiment_destroy(experiment);
        CHECK_UINT(0, failing.live_objects);
        CHECK(fail_at < 20);
    }
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    every_count_is_what_the_formula_says();
    no_tombstone_stays_after_a_removal();
    a_stop_ends_it_after_the_batch_in_hand();
    a_value_is_the_mean_of_a_batch();
    the_object_has_every_member();
    options_out_of_range_are_refused();
    no_memory_at_any_allocation_leaves_nothing_behind();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
