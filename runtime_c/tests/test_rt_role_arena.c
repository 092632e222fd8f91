#include "rt_role_arena.h"

#include "check.h"

static rt_allocator allocator;

static void blocks_are_apart_aligned_and_counted_in_units(void) {
    enum { BLOCKS = 5000 };
    static uint32_t blocks[BLOCKS];
    rt_role_arena arena;
    rt_role_arena_init(&arena, &allocator);
    CHECK_UINT(0, allocator.live_objects);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const size_t bytes = 1 + i % 300;
        blocks[i] = rt_role_arena_take(&arena, bytes);
        CHECK(blocks[i] != 0);
        CHECK_UINT(0, (uintptr_t)rt_role_arena_at(&arena, blocks[i]) % RT_ROLE_UNIT_BYTES);
        memset(rt_role_arena_at(&arena, blocks[i]), (int)(i % 251), bytes);
    }
    uint64_t expected = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const size_t bytes = 1 + i % 300;
        const unsigned char *const block = rt_role_arena_at(&arena, blocks[i]);
        CHECK(block[0] == i % 251 && block[bytes - 1] == i % 251);
        expected += (bytes + 15) / 16 * 16;
    }
    CHECK_UINT(expected, rt_role_arena_bytes(&arena));
    rt_role_arena_reset(&arena);
    CHECK_UINT(0, allocator.live_objects);
}

static void a_block_that_was_given_back_is_taken_again_for_its_size(void) {
    rt_role_arena arena;
    rt_role_arena_init(&arena, &allocator);
    const uint32_t first = rt_role_arena_take(&arena, 40), second = rt_role_arena_take(&arena, 40);
    rt_role_arena_give(&arena, first, 40);
    rt_role_arena_give(&arena, second, 40);
    CHECK_UINT(0, rt_role_arena_bytes(&arena));
    const uint32_t other = rt_role_arena_take(&arena, 60);
    CHECK(other != first && other != second);
    CHECK_UINT(second, rt_role_arena_take(&arena, 33)); /* 33 and 40 bytes are 3 units both */
    CHECK_UINT(first, rt_role_arena_take(&arena, 48));
    CHECK(rt_role_arena_take(&arena, 40) > other);
    rt_role_arena_reset(&arena);
}

/* The largest block fills a slab; the next one begins another. */
static void a_block_never_lies_across_two_slabs(void) {
    const size_t slab_bytes = (size_t)RT_ROLE_SLAB_UNITS * RT_ROLE_UNIT_BYTES;
    rt_role_arena arena;
    rt_role_arena_init(&arena, &allocator);
    CHECK_UINT(1, rt_role_arena_take(&arena, 16));
    CHECK_UINT(RT_ROLE_SLAB_UNITS + 1, rt_role_arena_take(&arena, slab_bytes));
    CHECK_UINT(2 * RT_ROLE_SLAB_UNITS + 1, rt_role_arena_take(&arena, slab_bytes - 15));
    for (uint32_t i = 3; i < 40; i++) { /* more than the first table of slabs holds */
        CHECK_UINT(i * RT_ROLE_SLAB_UNITS + 1, rt_role_arena_take(&arena, slab_bytes));
    }
    memset(rt_role_arena_at(&arena, 39 * RT_ROLE_SLAB_UNITS + 1), 1, slab_bytes);
    rt_role_arena_reset(&arena);
}

static void no_memory_leaves_the_arena_as_it_was(void) {
    for (uint64_t fail_at = 1; fail_at <= 3; fail_at++) {
        rt_allocator failing;
        rt_role_arena arena;
        rt_allocator_init(&failing, fail_at);
        rt_role_arena_init(&arena, &failing);
        const uint32_t block = rt_role_arena_take(&arena, 20);
        CHECK((block != 0) == (fail_at == 3)); /* the table, the slab */
        if (block != 0) {
            rt_role_arena_give(&arena, block, 20); /* its list cannot be made: the block is lost, nothing else */
            CHECK(rt_role_arena_take(&arena, 20) > block);
        }
        rt_role_arena_reset(&arena);
        CHECK_UINT(0, failing.live_objects);
    }
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    blocks_are_apart_aligned_and_counted_in_units();
    a_block_that_was_given_back_is_taken_again_for_its_size();
    a_block_never_lies_across_two_slabs();
    no_memory_leaves_the_arena_as_it_was();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
