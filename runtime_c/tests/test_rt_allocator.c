#include "rt_allocator.h"

#include "check.h"

static void memory_is_zeroed_aligned_and_counted(void) {
    rt_allocator allocator;
    rt_allocator_init(&allocator, 0);
    for (size_t bytes = 1; bytes < 5000; bytes = bytes * 3 + 1) {
        unsigned char *const lines = rt_allocate_lines(&allocator, 1, bytes);
        unsigned char *const plain = rt_allocate(&allocator, bytes);
        CHECK_UINT(0, (uintptr_t)lines % RT_LINE_BYTES);
        CHECK_UINT(0, lines[0] | lines[bytes - 1] | plain[0] | plain[bytes - 1]);
        memset(lines, 0xff, bytes);
        memset(plain, 0xff, bytes);
        CHECK_UINT(2, allocator.live_objects);
        rt_free_lines(&allocator, lines);
        rt_free(&allocator, plain);
        CHECK_UINT(0, allocator.live_objects);
    }
    CHECK(allocator.allocations > 0);
    CHECK_UINT(allocator.allocations, allocator.attempts);
}

static void the_chosen_attempt_and_all_later_ones_fail(void) {
    rt_allocator allocator;
    rt_allocator_init(&allocator, 3);
    void *const first = rt_allocate(&allocator, 8);
    void *const second = rt_allocate_lines(&allocator, 2, 8);
    CHECK(first != NULL && second != NULL);
    CHECK(rt_allocate(&allocator, 8) == NULL);
    CHECK(rt_allocate_array(&allocator, 1, 8) == NULL);
    CHECK(rt_allocate_lines(&allocator, 1, 8) == NULL);
    CHECK_UINT(2, allocator.allocations);
    CHECK_UINT(24, allocator.allocated_bytes);
    rt_free(&allocator, first);
    rt_free_lines(&allocator, second);
    CHECK_UINT(0, allocator.live_objects);
}

static void nothing_asked_for_and_overflow_give_nothing(void) {
    rt_allocator allocator;
    rt_allocator_init(&allocator, 0);
    CHECK(rt_allocate(&allocator, 0) == NULL);
    CHECK(rt_allocate_lines(&allocator, 0, 64) == NULL);
    CHECK(rt_allocate_array(&allocator, SIZE_MAX / 2 + 1, 2) == NULL);
    CHECK(rt_allocate_lines(&allocator, SIZE_MAX / 2 + 1, 2) == NULL);
    CHECK(rt_allocate_lines(&allocator, 1, SIZE_MAX - 1) == NULL);
    rt_free(&allocator, NULL);
    rt_free_lines(&allocator, NULL);
    CHECK_UINT(0, allocator.live_objects);
    CHECK_UINT(0, allocator.allocations);
}

int main(void) {
    memory_is_zeroed_aligned_and_counted();
    the_chosen_attempt_and_all_later_ones_fail();
    nothing_asked_for_and_overflow_give_nothing();
    return check_done();
}
