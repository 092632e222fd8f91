#include "rt_context_store.h"

#include "check.h"

#include <stdlib.h>

static rt_allocator allocator;

static rt_context_store *context_of(uint64_t bytes, uint64_t seed) {
    rt_context_store *context;
    CHECK_UINT(RT_OK, rt_context_store_create(&allocator, bytes, seed, &context, NULL));
    return context;
}

static void what_is_read_is_what_the_formula_says_for_any_size(void) {
    for (uint64_t bytes = 1; bytes < 300000; bytes = bytes * 2 + bytes % 7) {
        rt_context_store *const context = context_of(bytes, bytes);
        CHECK_UINT(bytes, rt_context_store_bytes(context));
        CHECK_UINT((bytes + 65535) / 65536, rt_context_store_chunks(context));
        CHECK_UINT(rt_context_expected_checksum(bytes, bytes), rt_context_store_checksum(context));
        for (uint64_t id = 0; id < 20; id++) {
            for (unsigned p = 0; p < RT_ACCESS_PATTERNS; p++) {
                const rt_access_pattern pattern = (rt_access_pattern)p;
                CHECK_UINT(rt_context_expected_probe(bytes, bytes, pattern, id, 64),
                           rt_context_store_probe(context, pattern, id, 64));
            }
        }
        rt_context_store_destroy(context);
    }
}

/* Seed 1, 8 MiB: the checksum stands in the published runs of benchmark version 1; what task 0 reads with 64 probes was
 * computed apart, in Python. */
static void the_default_workload_reads_what_it_always_read(void) {
    CHECK_UINT(UINT64_C(0x0d8d25bc7c514a82), rt_context_expected_checksum(1, 8u << 20));
    CHECK_UINT(UINT64_C(0x8d7ebaf4587df1be),
               rt_context_expected_probe(1, 8u << 20, RT_ACCESS_UNIFORM, 0, 64));
}

static void no_probes_read_nothing(void) {
    rt_context_store *const context = context_of(100, 1);
    CHECK_UINT(1, rt_context_store_probe(context, RT_ACCESS_UNIFORM, 5, 0));
    CHECK_UINT(1, rt_context_expected_probe(1, 100, RT_ACCESS_UNIFORM, 5, 0));
    rt_context_store_destroy(context);
}

/* Counts the calls and fails at one of them. */
typedef struct counting_source {
    uint64_t next_offset, calls, fail_at;
} counting_source;

static rt_status read_counting(void *context, uint64_t offset, uint8_t *piece, size_t count) {
    counting_source *const self = context;
    CHECK_UINT(self->next_offset, offset);
    self->next_offset += count;
    memset(piece, (int)('a' + self->calls), count);
    return ++self->calls == self->fail_at ? RT_STOPPED : RT_OK;
}

static void a_source_is_asked_once_for_each_chunk_in_order(void) {
    counting_source source = {0, 0, 0};
    rt_context_store *context;
    size_t count;
    CHECK_UINT(RT_OK,
               rt_context_store_create_from(&allocator, 2 * 65536 + 5,
                                            (rt_context_source){read_counting, &source}, &context, NULL));
    CHECK_UINT(3, source.calls);
    CHECK_UINT(2 * 65536 + 5, source.next_offset);
    CHECK_UINT('b', rt_context_store_chunk(context, 1, &count)[65535]);
    CHECK_UINT(65536, count);
    CHECK_UINT('c', rt_context_store_chunk(context, 2, &count)[4]);
    CHECK_UINT(5, count);
    rt_context_store_destroy(context);
}

static void a_source_that_fails_leaves_nothing(void) {
    counting_source source = {0, 0, 2};
    rt_context_store *context;
    CHECK_UINT(RT_STOPPED,
               rt_context_store_create_from(&allocator, 3 * 65536,
                                            (rt_context_source){read_counting, &source}, &context, NULL));
    CHECK(context == NULL);
    CHECK_UINT(2, source.calls);
    CHECK_UINT(0, allocator.live_objects);
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
    for (uint64_t fail_at = 1; fail_at <= 5; fail_at++) {
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
    what_is_read_is_what_the_formula_says_for_any_size();
    the_default_workload_reads_what_it_always_read();
    no_probes_read_nothing();
    a_source_is_asked_once_for_each_chunk_in_order();
    a_source_that_fails_leaves_nothing();
    sizes_out_of_range_are_refused_with_a_sentence();
    no_memory_leaves_nothing_behind();
    rt_context_store_destroy(NULL);
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
