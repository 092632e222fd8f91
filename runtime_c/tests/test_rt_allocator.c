#include "rt_allocator.h"

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

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

/* Each owner's own bytes, whoever asks; what was not written costs nothing. */
static void an_owner_has_what_it_allocated_and_what_of_it_is_in_ram(void) {
    enum { BIG = 4 << 20 };
    rt_allocator allocator;
    rt_allocator_init(&allocator, 0);
    char *const tasks = rt_allocate_owned(&allocator, RT_OWNER_TASKS, 1, BIG);
    char *const plain = rt_allocate_lines(&allocator, 1, 100);
    void *const small = rt_allocate(&allocator, 40);
    CHECK_UINT(BIG, rt_allocator_account(&allocator, RT_OWNER_TASKS).allocated_bytes);
    const uint64_t untouched = rt_allocator_account(&allocator, RT_OWNER_TASKS).resident_bytes;
    memset(tasks, 1, BIG / 2);
    const uint64_t half = rt_allocator_account(&allocator, RT_OWNER_TASKS).resident_bytes;
    CHECK(half >= BIG / 2 && half <= BIG + RT_LINE_BYTES);
    if (CHECK_MEMORY_IS_OUR_OWN) {
        CHECK(untouched < BIG / 8);
        CHECK(half < BIG / 2 + BIG / 8);
    }
    const rt_account runtime = rt_allocator_account(&allocator, RT_OWNER_RUNTIME);
    CHECK(runtime.allocated_bytes >= 140 && runtime.allocated_bytes < 300);
    CHECK(runtime.resident_bytes >= 140 && runtime.resident_bytes < 300);
    CHECK_UINT(0, rt_allocator_account(&allocator, RT_OWNER_CONTEXT).allocated_bytes);
    rt_free_lines(&allocator, plain);
    rt_free_lines(&allocator, tasks);
    rt_free(&allocator, small);
    for (unsigned owner = 0; owner < RT_OWNERS; owner++) {
        CHECK_UINT(0, rt_allocator_account(&allocator, (rt_owner)owner).allocated_bytes);
    }
    CHECK(allocator.blocks == NULL);
}

static void all_of_a_part_is_on_one_account_of_its_parent(void) {
    rt_allocator whole, part;
    rt_allocator_init(&whole, 4);
    rt_allocator_init_part(&part, &whole, RT_OWNER_AUXILIARY);
    void *const lines = rt_allocate_owned(&part, RT_OWNER_HISTOGRAMS, 10, 100);
    void *const small = rt_allocate(&part, 24);
    void *const plain = rt_allocate_lines(&part, 1, 64);
    CHECK(rt_allocate(&part, 8) == NULL); /* the parent's fourth attempt */
    CHECK_UINT(3, whole.live_objects);
    CHECK_UINT(1088, whole.allocated_bytes);
    const rt_account account = rt_allocator_account(&whole, RT_OWNER_AUXILIARY);
    CHECK(account.allocated_bytes >= 1088 && account.allocated_bytes < 1200);
    CHECK_UINT(account.allocated_bytes, rt_allocator_account(&part, RT_OWNER_AUXILIARY).allocated_bytes);
    CHECK_UINT(0, rt_allocator_account(&whole, RT_OWNER_HISTOGRAMS).allocated_bytes);
    rt_free_lines(&part, plain);
    rt_free(&part, small);
    rt_free_lines(&whole, lines); /* a block knows whose it is */
    CHECK_UINT(0, whole.live_objects);
    CHECK_UINT(0, rt_allocator_account(&whole, RT_OWNER_AUXILIARY).allocated_bytes);
}

/* The lock of the list may be held by a thread that the child does not have. */
static void a_forked_child_frees_without_the_lock(void) {
    rt_allocator allocator;
    rt_allocator_init(&allocator, 0);
    void *const block = rt_allocate_lines(&allocator, 1, 1000);
    pthread_mutex_lock(&allocator.lock);
    const pid_t child = fork();
    if (child == 0) {
        rt_free_lines(&allocator, block);
        void *const another = rt_allocate_lines(&allocator, 1, 1000);
        rt_free_lines(&allocator, another);
        _exit(allocator.live_objects == 0 && another != NULL ? 0 : 1);
    }
    pthread_mutex_unlock(&allocator.lock);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_UINT(0, status);
    rt_free_lines(&allocator, block);
}

int main(void) {
    memory_is_zeroed_aligned_and_counted();
    the_chosen_attempt_and_all_later_ones_fail();
    nothing_asked_for_and_overflow_give_nothing();
    an_owner_has_what_it_allocated_and_what_of_it_is_in_ram();
    all_of_a_part_is_on_one_account_of_its_parent();
    a_forked_child_frees_without_the_lock();
    return check_done();
}
