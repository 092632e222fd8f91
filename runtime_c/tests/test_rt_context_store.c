#include "rt_context_store.h"

#include "check.h"

#include <stdlib.h>

static rt_allocator allocator;

static rt_context_store *context_of(uint64_t bytes, uint64_t seed) {
    rt_context_store *context;
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, bytes, seed, &context, NULL));
    return context;
}

/* Expected: byte 0 and byte 9 of splitmix64 from seed 1234567 (see test_rt_random), little-endian:
 * 6457827717110365317 = 0x599ed017fb08fc85, 3203168211198807973 = 0x2c73f08458540fa5. */
static void bytes_follow_the_formula(void) {
    CHECK_UINT(0x85, rt_context_formula_byte(1234567, 0));
    CHECK_UINT(0x59, rt_context_formula_byte(1234567, 7));
    CHECK_UINT(0xa5, rt_context_formula_byte(1234567, 8));
    CHECK_UINT(0x0f, rt_context_formula_byte(1234567, 9));
}

static void what_is_read_is_what_the_formula_says_for_any_size(void) {
    for (uint64_t bytes = 1; bytes < 70000; bytes = bytes * 2 + bytes % 7) {
        rt_context_store *const context = context_of(bytes, bytes);
        CHECK_UINT(bytes, rt_context_store_bytes(context));
        CHECK_UINT(rt_context_expected_checksum(bytes, bytes), rt_context_store_checksum(context));
        for (uint64_t id = 0; id < 20; id++) {
            CHECK_UINT(rt_context_expected_probe(bytes, bytes, id, 64),
                       rt_context_store_probe(context, id, 64));
        }
        rt_context_store_destroy(context);
    }
}

static void no_probes_read_nothing(void) {
    rt_context_store *const context = context_of(100, 1);
    CHECK_UINT(1, rt_context_store_probe(context, 5, 0));
    CHECK_UINT(1, rt_context_expected_probe(1, 100, 5, 0));
    rt_context_store_destroy(context);
}

static void probes_spread_over_the_whole_buffer(void) {
    uint64_t counts[8] = {0};
    for (uint64_t id = 0; id < 1000; id++) {
        for (uint32_t probe = 0; probe < 64; probe++) {
            const uint64_t offset = rt_context_probe_offset(id, probe, 4096);
            CHECK(offset < 4096);
            counts[offset / 512]++;
        }
    }
    for (unsigned i = 0; i < 8; i++) { /* 8,000 expected, standard deviation 84: five of them */
        CHECK(counts[i] > 7580 && counts[i] < 8420);
    }
}

static void different_seeds_sizes_and_tasks_have_different_checksums(void) {
    CHECK(rt_context_expected_checksum(1, 4096) != rt_context_expected_checksum(2, 4096));
    CHECK(rt_context_expected_checksum(1, 4096) != rt_context_expected_checksum(1, 4095));
    CHECK(rt_context_expected_probe(1, 4096, 1, 64) != rt_context_expected_probe(1, 4096, 2, 64));
}

static void the_checksum_notices_any_changed_bit(void) {
    uint8_t bytes[43];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = rt_context_formula_byte(9, i);
    }
    CHECK_UINT(rt_context_expected_checksum(9, sizeof bytes), rt_context_checksum(bytes, sizeof bytes));
    for (unsigned bit = 0; bit < sizeof bytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        CHECK(rt_context_expected_checksum(9, sizeof bytes) != rt_context_checksum(bytes, sizeof bytes));
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

static void sizes_out_of_range_are_refused_with_a_sentence(void) {
    rt_context_store *context = (rt_context_store *)&allocator;
    rt_message why;
    CHECK_UINT(RT_INVALID, rt_context_store_create(&allocator, 0, 1, &context, &why));
    CHECK(context == NULL);
    CHECK_TEXT("context_bytes is 0; choose 1 to 1099511627776", why.text);
    CHECK_UINT(RT_INVALID, rt_context_store_create(&allocator, RT_CONTEXT_MAX_BYTES + 1, 1, &context, &why));
}

static void no_memory_leaves_nothing_behind(void) {
    for (uint64_t fail_at = 1; fail_at <= 2; fail_at++) {
        rt_allocator failing;
        rt_context_store *context;
        rt_message why = {""};
        rt_allocator_init(&failing, fail_at);
        CHECK_UINT(RT_NO_MEMORY, rt_context_store_create(&failing, 4096, 1, &context, &why));
        CHECK(context == NULL && why.text[0] != '\0');
        CHECK_UINT(0, failing.live_objects);
    }
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    bytes_follow_the_formula();
    what_is_read_is_what_the_formula_says_for_any_size();
    no_probes_read_nothing();
    probes_spread_over_the_whole_buffer();
    different_seeds_sizes_and_tasks_have_different_checksums();
    the_checksum_notices_any_changed_bit();
    sizes_out_of_range_are_refused_with_a_sentence();
    no_memory_leaves_nothing_behind();
    rt_context_store_destroy(NULL);
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
