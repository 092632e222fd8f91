#include "rt_task_body.h"

#include "check.h"

static rt_allocator allocator;
static uint8_t output[128];

static rt_task_body_options options_of(uint32_t agents, uint32_t probes, uint32_t output_bytes) {
    return (rt_task_body_options){.allocator = &allocator,
                                  .clock = &rt_clock_machine,
                                  .seed = 5,
                                  .agents = agents,
                                  .workers = 2,
                                  .probes = probes,
                                  .context_bytes = 5000,
                                  .output_bytes = output_bytes};
}

static rt_task_body *body_of(rt_task_body_options options) {
    rt_task_body *body;
    CHECK_UINT(RT_OK, rt_task_body_create(&options, &body, NULL));
    return body;
}

static rt_task_run run_of(uint64_t task_id, uint32_t worker) {
    return (rt_task_run){.task_id = task_id,
                         .worker = worker,
                         .output_capacity_bytes = sizeof output,
                         .output = output,
                         .sampled = task_id % 10 == 0};
}

static void what_is_done_is_what_the_formulas_say_on_any_worker(void) {
    rt_task_body *const body = body_of(options_of(1000, 64, 64));
    rt_task_body_counts expected = {.role_lookups = 0};
    rt_task_body_counts done;
    for (uint64_t id = 0; id < 12000; id++) {
        rt_task_run run = run_of(id, (uint32_t)(id / 7 % 2));
        CHECK_UINT(RT_OK, rt_task_body_run(body, &run));
        CHECK_UINT(64, run.output_bytes);
        rt_task_body_expect(body, id, &expected);
    }
    rt_task_body_count(body, &done);
    CHECK_UINT(12000, done.role_lookups);
    CHECK_UINT(0, done.lookups_failed);
    CHECK_UINT(12000 * 64, done.probes_done);
    CHECK_UINT(12000 * 64, done.output_bytes_written);
    CHECK_UINT(expected.prompt_bytes, done.prompt_bytes);
    CHECK_UINT(expected.probe_checksum, done.probe_checksum);
    CHECK_UINT(rt_task_body_context_expected(body), rt_task_body_context_checksum(body));
    rt_task_body_destroy(body);
}

static uint64_t checksum_in_order(int backwards) {
    rt_task_body *const body = body_of(options_of(10, 16, 8));
    rt_task_body_counts done;
    for (uint64_t i = 0; i < 100; i++) {
        rt_task_run run = run_of(backwards ? 99 - i : i, 0);
        CHECK_UINT(RT_OK, rt_task_body_run(body, &run));
    }
    rt_task_body_count(body, &done);
    rt_task_body_destroy(body);
    return done.probe_checksum;
}

static void the_checksum_does_not_depend_on_the_order_of_the_tasks(void) {
    CHECK_UINT(checksum_in_order(0), checksum_in_order(1));
}

static void a_task_done_twice_instead_of_another_changes_the_checksum(void) {
    rt_task_body *const body = body_of(options_of(10, 16, 8));
    rt_task_body_counts expected = {.role_lookups = 0};
    rt_task_body_counts done;
    for (uint64_t id = 0; id < 10; id++) {
        rt_task_run run = run_of(id == 9 ? 3 : id, 0);
        CHECK_UINT(RT_OK, rt_task_body_run(body, &run));
        rt_task_body_expect(body, id, &expected);
    }
    rt_task_body_count(body, &done);
    CHECK(expected.probe_checksum != done.probe_checksum);
    rt_task_body_destroy(body);
}

static void sampled_tasks_have_their_spans_timed(void) {
    static rt_histogram lookups, prompts;
    rt_task_body *const body = body_of(options_of(100, 4, 8));
    rt_histogram_init(&lookups);
    rt_histogram_init(&prompts);
    for (uint64_t id = 0; id < 100; id++) {
        rt_task_run run = run_of(id, (uint32_t)(id % 2));
        CHECK_UINT(RT_OK, rt_task_body_run(body, &run));
    }
    rt_task_body_merge_lookup(body, &lookups);
    rt_task_body_merge_prompt(body, &prompts);
    CHECK_UINT(10, lookups.count);
    CHECK_UINT(10, prompts.count);
    rt_task_body_destroy(body);
}

static void an_output_that_does_not_fit_is_a_status(void) {
    rt_task_body *const body = body_of(options_of(10, 4, sizeof output + 1));
    rt_task_run run = run_of(0, 0);
    CHECK_UINT(RT_TOO_SMALL, rt_task_body_run(body, &run));
    CHECK_UINT(0, run.output_bytes);
    rt_task_body_destroy(body);
}

static void outputs_of_any_length_are_written_in_full_and_not_beyond(void) {
    for (uint32_t bytes = 0; bytes < 20; bytes++) {
        rt_task_body *const body = body_of(options_of(1, 1, bytes));
        rt_task_run run = run_of(3, 0);
        memset(output, 0, sizeof output);
        CHECK_UINT(RT_OK, rt_task_body_run(body, &run));
        CHECK_UINT(bytes, run.output_bytes);
        for (uint32_t i = bytes; i < sizeof output; i++) {
            CHECK_UINT(0, output[i]);
        }
        rt_task_body_destroy(body);
    }
}

static void memory_is_accounted(void) {
    rt_task_body_bytes bytes;
    rt_task_body *const body = body_of(options_of(100, 1, 1));
    rt_task_body_account(body, &bytes);
    CHECK_UINT(65536, bytes.context_bytes); /* whole chunks */
    CHECK_UINT(2 * 2 * sizeof(rt_histogram), bytes.histogram_bytes);
    CHECK(bytes.runtime_bytes > 100 * 100); /* each role holds an instruction of more than 100 bytes */
    rt_task_body_destroy(body);
}

static void check_refusal(rt_task_body_options options, const char *text) {
    rt_task_body *body;
    rt_message why = {""};
    CHECK_UINT(RT_INVALID, rt_task_body_create(&options, &body, &why));
    CHECK_TEXT(text, why.text);
    CHECK(body == NULL);
}

static void options_out_of_range_are_refused_with_a_sentence(void) {
    rt_task_body_options options = options_of(0, 1, 1);
    check_refusal(options, "agents is 0; choose 1 to 1000000 registered roles");
    options = options_of(1, RT_TASK_BODY_MAX_PROBES + 1, 1);
    check_refusal(options, "probes is 1000001; choose 0 to 1000000");
    options = options_of(1, 1, RT_TASK_BODY_MAX_OUTPUT_BYTES + 1);
    check_refusal(options, "output_bytes is 16777217; choose 0 to 16777216");
    options = options_of(1, 1, 1);
    options.context_bytes = 0;
    check_refusal(options, "context_bytes is 0; choose 1 to 1099511627776");
}

static void memory_that_cannot_be_had_is_a_status_at_every_attempt(void) {
    rt_status status = RT_NO_MEMORY;
    for (uint64_t fail_at = 1; status == RT_NO_MEMORY; fail_at++) {
        rt_allocator failing;
        rt_task_body *body;
        rt_message why = {""};
        rt_task_body_options options = options_of(3, 1, 1);
        rt_allocator_init(&failing, fail_at);
        options.allocator = &failing;
        status = rt_task_body_create(&options, &body, &why);
        CHECK(status == RT_OK || (body == NULL && why.text[0] != '\0'));
        rt_task_body_destroy(body);
        CHECK_UINT(0, failing.live_objects);
    }
    CHECK_UINT(RT_OK, status);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    what_is_done_is_what_the_formulas_say_on_any_worker();
    the_checksum_does_not_depend_on_the_order_of_the_tasks();
    a_task_done_twice_instead_of_another_changes_the_checksum();
    sampled_tasks_have_their_spans_timed();
    an_output_that_does_not_fit_is_a_status();
    outputs_of_any_length_are_written_in_full_and_not_beyond();
    memory_is_accounted();
    options_out_of_range_are_refused_with_a_sentence();
    memory_that_cannot_be_had_is_a_status_at_every_attempt();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
