#include "rt_rollback.h"

#include "rt_context_rewrite.h"

#include "check.h"

#include <errno.h>
#include <stdatomic.h>

#define CHUNK ((uint64_t)RT_CONTEXT_CHUNK_BYTES)
#define BYTES (20u * CHUNK + 11u)

static rt_allocator allocator;
static rt_context_store *context;

static rt_rollback_options options_of(uint32_t cycles, uint32_t permille) {
    return (rt_rollback_options){.allocator = &allocator,
                                 .clock = &rt_clock_machine,
                                 .context = context,
                                 .seed = 3,
                                 .cycles = cycles,
                                 .rewrite_permille = permille};
}

static rt_rollback *rollback_of(rt_rollback_options options) {
    rt_rollback *rollback;
    CHECK_UINT(RT_OK, rt_rollback_create(&options, &rollback, NULL));
    return rollback;
}

static rt_rollback_result result_of(const rt_rollback *rollback) {
    rt_rollback_result result;
    rt_rollback_result_read(rollback, &result);
    return result;
}

static void check_whole(const rt_rollback *rollback, uint64_t cycles, uint64_t chunks_a_cycle) {
    const rt_rollback_result result = result_of(rollback);
    CHECK_UINT(cycles, result.cycles);
    CHECK_UINT(cycles * chunks_a_cycle, result.chunks_rewritten);
    CHECK_UINT(0, result.mismatches);
    CHECK_UINT(rt_context_expected_checksum(9, BYTES), result.checksum_before);
    CHECK_UINT(rt_context_expected_checksum(9, BYTES), result.checksum_after);
    CHECK_UINT(cycles, rt_rollback_snapshot_times(rollback)->count);
    CHECK_UINT(cycles, rt_rollback_rollback_times(rollback)->count);
}

static void shares_are_rounded_up(void) {
    CHECK_UINT(0, rt_context_rewrite_count(21, 0));
    CHECK_UINT(1, rt_context_rewrite_count(21, 1));
    CHECK_UINT(3, rt_context_rewrite_count(21, 100));
    CHECK_UINT(21, rt_context_rewrite_count(21, 1000));
    CHECK_UINT(164, rt_context_rewrite_count(16384, 10)); /* 1 GiB, 1 % */
}

static void the_chunks_of_a_cycle_are_different_ones(void) {
    for (uint64_t count = 1; count <= 21; count++) {
        bool seen[21] = {false};
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t chunk = rt_context_rewrite_chunk(5, i, count, 21);
            CHECK(chunk < 21 && !seen[chunk]);
            seen[chunk] = true;
        }
    }
}

static void cycles_at_rest_restore_every_byte(void) {
    rt_rollback *const rollback = rollback_of(options_of(10, 300));
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    check_whole(rollback, 10, 7);
    CHECK_UINT(0, result_of(rollback).cycles_while_tasks_ran);
    /* the last chunk has 11 bytes: it is copied in some of the cycles */
    CHECK(result_of(rollback).bytes_copied <= 70 * CHUNK && result_of(rollback).bytes_copied > 59 * CHUNK);
    CHECK_UINT(RT_BUSY, rt_rollback_run(rollback, NULL));
    CHECK_UINT(RT_BUSY, rt_rollback_start(rollback, NULL));
    CHECK_UINT(RT_BUSY, rt_rollback_join(rollback, NULL));
    rt_rollback_destroy(rollback);
}

static void the_whole_context_may_be_rewritten(void) {
    rt_rollback *const rollback = rollback_of(options_of(2, 1000));
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    check_whole(rollback, 2, 21);
    CHECK_UINT(2 * BYTES, result_of(rollback).bytes_copied);
    rt_rollback_destroy(rollback);
}

static void nothing_rewritten_is_nothing_copied(void) {
    rt_rollback *const rollback = rollback_of(options_of(3, 0));
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    check_whole(rollback, 3, 0);
    CHECK_UINT(0, result_of(rollback).bytes_copied);
    rt_rollback_destroy(rollback);
}

static void a_thread_does_the_cycles_while_a_snapshot_is_read(void) {
    rt_context_snapshot *snapshot;
    CHECK_UINT(RT_OK, rt_context_snapshot_take(context, &snapshot, NULL));
    rt_rollback *const rollback = rollback_of(options_of(40, 200));
    CHECK_UINT(RT_OK, rt_rollback_start(rollback, NULL));
    CHECK_UINT(RT_BUSY, rt_rollback_run(rollback, NULL));
    for (uint64_t task = 0; task < 2000; task++) {
        CHECK_UINT(rt_context_expected_probe(9, BYTES, RT_ACCESS_UNIFORM, task, 64),
                   rt_context_snapshot_probe(snapshot, RT_ACCESS_UNIFORM, task, 64));
    }
    CHECK_UINT(RT_OK, rt_rollback_join(rollback, NULL));
    check_whole(rollback, 40, 5);
    CHECK(result_of(rollback).cycles_while_tasks_ran <= 40);
    rt_rollback_destroy(rollback);
    rt_context_snapshot_drop(snapshot);
}

static void a_stop_ends_the_cycles_and_is_said(void) {
    rt_message why;
    rt_rollback *rollback = rollback_of(options_of(1000000, 500));
    rt_rollback_request_stop(rollback);
    CHECK_UINT(RT_STOPPED, rt_rollback_run(rollback, &why));
    CHECK_TEXT("the rollbacks were stopped on request", why.text);
    check_whole(rollback, 0, 11);
    rt_rollback_destroy(rollback);
    rollback = rollback_of(options_of(1000000, 500)); /* hours */
    CHECK_UINT(RT_OK, rt_rollback_start(rollback, NULL));
    rt_rollback_request_stop(rollback);
    CHECK_UINT(RT_STOPPED, rt_rollback_join(rollback, &why));
    CHECK_TEXT("the rollbacks were stopped on request", why.text);
    check_whole(rollback, result_of(rollback).cycles, 11);
    rt_rollback_destroy(rollback);
    rollback = rollback_of(options_of(1000000, 500));
    CHECK_UINT(RT_OK, rt_rollback_start(rollback, NULL));
    rt_rollback_destroy(rollback); /* stops and waits */
    CHECK_UINT(rt_context_expected_checksum(9, BYTES), rt_context_store_checksum(context));
}

/* A content that a rollback does not bring back must be told: somebody else writes into a chunk at home. */
static uint64_t clock_calls;
static rt_status spoil_status;

static uint64_t spoiling_clock(void *own) {
    (void)own;
    if (++clock_calls == 4) { /* after the rollback of the only cycle */
        uint8_t *bytes;
        size_t count;
        for (uint64_t chunk = 0; chunk < 21; chunk++) {
            spoil_status = rt_context_store_edit(context, chunk, &bytes, &count, NULL);
            bytes[0] ^= 1;
        }
    }
    return clock_calls;
}

static void what_a_rollback_does_not_restore_is_counted(void) {
    const rt_clock clock = {.now_ns = spoiling_clock};
    rt_rollback_options options = options_of(1, 1000);
    options.clock = &clock;
    clock_calls = 0;
    rt_rollback *const rollback = rollback_of(options);
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    CHECK_UINT(RT_OK, spoil_status);
    CHECK_UINT(21, result_of(rollback).mismatches);
    CHECK(result_of(rollback).checksum_before != result_of(rollback).checksum_after);
    CHECK_UINT(1, rt_rollback_snapshot_times(rollback)->max_ns);
    CHECK_UINT(1, rt_rollback_rollback_times(rollback)->max_ns);
    rt_rollback_destroy(rollback);
    rt_context_store_destroy(context); /* spoiled for the others */
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, BYTES, 9, &context, NULL));
}

static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                     void *argument) {
    (void)thread;
    (void)attributes;
    (void)entry;
    (void)argument;
    return EAGAIN;
}

static void a_thread_that_cannot_start_is_reported(void) {
    rt_rollback_options options = options_of(5, 100);
    rt_message why;
    options.start_thread = no_thread;
    rt_rollback *const rollback = rollback_of(options);
    CHECK_UINT(RT_NO_THREAD, rt_rollback_start(rollback, &why));
    CHECK_TEXT("the thread of the rollbacks could not start; raise the limit of threads", why.text);
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    rt_rollback_destroy(rollback);
}

static void options_out_of_range_are_refused(void) {
    rt_rollback *rollback = (rt_rollback *)&allocator;
    rt_rollback_options options = options_of(0, 100);
    rt_message why;
    CHECK_UINT(RT_INVALID, rt_rollback_create(&options, &rollback, &why));
    CHECK(rollback == NULL);
    CHECK_TEXT("rollbacks is 0 and rewrite_permille 100; choose 1 or more cycles and a share of 0 to 1000",
               why.text);
    options = options_of(1, 1001);
    CHECK_UINT(RT_INVALID, rt_rollback_create(&options, &rollback, NULL));
}

static void no_memory_rolls_the_cycle_back(void) {
    const rt_rollback_options options = options_of(3, 1000);
    for (uint64_t more = 1; more <= 3; more++) {
        rt_rollback *rollback;
        allocator.fail_at = allocator.attempts + more;
        CHECK_UINT(RT_NO_MEMORY, rt_rollback_create(&options, &rollback, NULL));
        allocator.fail_at = 0;
    }
    for (uint64_t more = 1; more <= 6; more++) {
        rt_context_store_destroy(context); /* so that no free chunk is left from before */
        CHECK_UINT(RT_OK, rt_context_store_create(&allocator, BYTES, 9, &context, NULL));
        rt_rollback *const rollback = rollback_of(options_of(3, 1000));
        allocator.fail_at = allocator.attempts + more;
        CHECK_UINT(RT_NO_MEMORY, rt_rollback_run(rollback, NULL));
        allocator.fail_at = 0;
        check_whole(rollback, 0, 21);
        rt_rollback_destroy(rollback);
    }
}

static void the_record_names_every_count(void) {
    rt_rollback *const rollback = rollback_of(options_of(2, 1000));
    rt_json *json;
    const char *text;
    char expected[512];
    CHECK_UINT(RT_OK, rt_rollback_run(rollback, NULL));
    CHECK_UINT(RT_OK, rt_json_create(&json));
    rt_rollback_write(rollback, json, NULL);
    CHECK_UINT(RT_OK, rt_json_finish(json, &text));
    const uint64_t sum = rt_context_expected_checksum(9, BYTES);
    snprintf(expected, sizeof expected,
             "{\"cycles\":2,\"cycles_while_tasks_ran\":0,\"chunks_rewritten\":42,\"bytes_copied\":%" PRIu64
             ",\"checksum_before\":\"%016" PRIx64 "\",\"checksum_after\":\"%016" PRIx64
             "\",\"mismatches\":0}",
             2 * BYTES, sum, sum);
    CHECK_TEXT(expected, text);
    CHECK(rt_rollback_bytes(rollback) > 2 * sizeof(rt_histogram));
    rt_json_destroy(json);
    rt_rollback_destroy(rollback);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, BYTES, 9, &context, NULL));
    shares_are_rounded_up();
    the_chunks_of_a_cycle_are_different_ones();
    cycles_at_rest_restore_every_byte();
    the_whole_context_may_be_rewritten();
    nothing_rewritten_is_nothing_copied();
    a_thread_does_the_cycles_while_a_snapshot_is_read();
    a_stop_ends_the_cycles_and_is_said();
    what_a_rollback_does_not_restore_is_counted();
    a_thread_that_cannot_start_is_reported();
    options_out_of_range_are_refused();
    no_memory_rolls_the_cycle_back();
    the_record_names_every_count();
    rt_rollback_destroy(NULL);
    rt_context_store_destroy(context);
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
