#include "rt_stack.h"

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static rt_allocator allocator;

static rt_stack_pool *new_pool(size_t stack_bytes, uint64_t max_idle) {
    rt_stack_pool *pool = NULL;
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_stack_pool_create(&allocator, stack_bytes, max_idle, &pool));
    return pool;
}

static void end_pool(rt_stack_pool *pool) {
    rt_stack_pool_destroy(pool);
    CHECK_UINT(0, atomic_load(&allocator.live_objects));
}

static rt_stack_bytes account(const rt_stack_pool *pool) {
    rt_stack_bytes bytes;
    rt_stack_pool_account(pool, &bytes);
    return bytes;
}

static void a_size_outside_its_range_is_refused(void) {
    rt_stack_pool *pool;
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_INVALID, rt_stack_pool_create(&allocator, RT_STACK_MIN_BYTES - 1, 1, &pool));
    CHECK_UINT(RT_INVALID, rt_stack_pool_create(&allocator, RT_STACK_MAX_BYTES + 1, 1, &pool));
    CHECK(pool == NULL);
    rt_allocator_init(&allocator, 1);
    CHECK_UINT(RT_NO_MEMORY, rt_stack_pool_create(&allocator, RT_STACK_MIN_BYTES, 1, &pool));
}

static void a_stack_is_whole_pages_and_the_last_given_is_the_next_taken(void) {
    rt_stack_pool *const pool = new_pool(RT_STACK_MIN_BYTES + 1, 8);
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    rt_stack *const first = rt_stack_pool_take(pool);
    rt_stack *const second = rt_stack_pool_take(pool);
    CHECK(first != second);
    CHECK_UINT(0, first->bytes % page_bytes);
    CHECK(first->bytes > RT_STACK_MIN_BYTES);
    CHECK_UINT(first->bytes, rt_stack_pool_stack_bytes(pool));
    memset(first->low, 1, first->bytes); /* all of it may be written */
    rt_stack_pool_give(pool, first);
    rt_stack_pool_give(pool, second);
    CHECK(rt_stack_pool_take(pool) == second);
    CHECK(rt_stack_pool_take(pool) == first);
    end_pool(pool);
}

static void reserved_and_committed_bytes_are_counted_apart(void) {
    rt_stack_pool *const pool = new_pool(1u << 20, 8);
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_UINT(0, account(pool).reserved_bytes);
    rt_stack *const stack = rt_stack_pool_take(pool);
    CHECK_UINT((1u << 20) + RT_STACK_GUARD_BYTES, account(pool).reserved_bytes);
    CHECK_UINT(0, account(pool).committed_bytes); /* nothing was touched */
    CHECK_UINT(1, account(pool).live);
    stack->low[stack->bytes - 1] = 1;
    stack->low[0] = 1;
    CHECK_UINT(2 * page_bytes, account(pool).committed_bytes);
    rt_stack_pool_give(pool, stack);
    CHECK_UINT(2 * page_bytes, account(pool).committed_bytes); /* giving back is no trim */
    CHECK_UINT(0, account(pool).live);
    CHECK_UINT(1, account(pool).idle);
    rt_stack_pool_trim(pool, 1);
    CHECK_UINT(2 * page_bytes, account(pool).committed_bytes);
    rt_stack_pool_trim(pool, 0);
    CHECK_UINT(0, account(pool).committed_bytes);
    CHECK_UINT((1u << 20) + RT_STACK_GUARD_BYTES, account(pool).reserved_bytes);
    CHECK(rt_stack_pool_take(pool) == stack);
    end_pool(pool);
}

static void no_more_than_max_idle_stacks_keep_their_pages(void) {
    enum { COUNT = 10, KEPT = 3 };
    rt_stack_pool *const pool = new_pool(RT_STACK_MIN_BYTES, KEPT);
    rt_stack *stacks[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        stacks[i] = rt_stack_pool_take(pool);
        stacks[i]->low[stacks[i]->bytes - 1] = 1;
    }
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_UINT(COUNT * page_bytes, account(pool).committed_bytes);
    for (unsigned i = 0; i < COUNT; i++) {
        rt_stack_pool_give(pool, stacks[i]);
    }
    CHECK_UINT(KEPT * page_bytes, account(pool).committed_bytes);
    CHECK_UINT(0, account(pool).live);
    end_pool(pool);
}

static void an_address_belongs_to_the_guard_below_its_stack(void) {
    enum { COUNT = 100 }; /* several slabs */
    rt_stack_pool *const pool = new_pool(RT_STACK_MIN_BYTES, 8);
    for (unsigned i = 0; i < COUNT; i++) {
        rt_stack *const stack = rt_stack_pool_take(pool);
        CHECK(rt_stack_pool_guard_at(pool, stack->low) == NULL);
        CHECK(rt_stack_pool_guard_at(pool, stack->low - 1) == stack);
        CHECK(rt_stack_pool_guard_at(pool, stack->low - RT_STACK_GUARD_BYTES) == stack);
        CHECK(rt_stack_pool_guard_at(pool, stack->low + stack->bytes - 1) == NULL);
    }
    CHECK(rt_stack_pool_guard_at(pool, NULL) == NULL);
    CHECK(rt_stack_pool_guard_at(pool, &allocator) == NULL);
    end_pool(pool);
}

static void without_memory_there_is_no_stack_and_the_pool_stays_whole(void) {
    rt_stack_pool *pool = NULL;
    rt_allocator_init(&allocator, 2); /* the pool itself, then no slab */
    CHECK_UINT(RT_OK, rt_stack_pool_create(&allocator, RT_STACK_MIN_BYTES, 8, &pool));
    CHECK(rt_stack_pool_take(pool) == NULL);
    allocator.fail_at = 0;
    CHECK(rt_stack_pool_take(pool) != NULL);
    end_pool(pool);
}

static void a_cache_hands_out_what_it_got_last_and_gives_all_of_it_back(void) {
    enum { COUNT = 3 * RT_STACK_CACHE_SLOTS };
    rt_stack_pool *const pool = new_pool(RT_STACK_MIN_BYTES, COUNT);
    rt_stack_cache cache = {.count = 0};
    rt_stack *stacks[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        stacks[i] = rt_stack_cache_take(&cache, pool);
    }
    CHECK_UINT(COUNT, account(pool).live);
    for (unsigned i = 0; i < COUNT; i++) {
        rt_stack_cache_give(&cache, pool, stacks[i]);
        CHECK(rt_stack_cache_take(&cache, pool) == stacks[i]);
        rt_stack_cache_give(&cache, pool, stacks[i]);
    }
    CHECK_UINT(0, account(pool).live);
    CHECK(cache.count > 0 && cache.count <= RT_STACK_CACHE_SLOTS);
    rt_stack_cache_empty(&cache, pool);
    CHECK_UINT(0, cache.count);
    unsigned found = 0; /* each of them once */
    for (unsigned i = 0; i < COUNT; i++) {
        rt_stack *const stack = rt_stack_pool_take(pool);
        for (unsigned j = 0; j < COUNT; j++) {
            found += stacks[j] == stack;
            stacks[j] = stacks[j] == stack ? NULL : stacks[j];
        }
    }
    CHECK_UINT(COUNT, found);
    end_pool(pool);
}

enum { THREADS = 4, ROUNDS = 2000 };

/* A stack that two threads hold at once would show the other's mark. */
static void *take_mark_and_give(void *argument) {
    rt_stack_pool *const pool = argument;
    rt_stack_cache cache = {.count = 0};
    uintptr_t wrong = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        rt_stack *const one = rt_stack_cache_take(&cache, pool);
        rt_stack *const two = rt_stack_pool_take(pool);
        *(rt_stack_cache **)(void *)one->low = &cache;
        *(rt_stack_cache **)(void *)two->low = &cache;
        wrong += *(rt_stack_cache **)(void *)one->low != &cache;
        wrong += *(rt_stack_cache **)(void *)two->low != &cache;
        rt_stack_pool_give(pool, one); /* crosswise, so that stacks wander */
        rt_stack_cache_give(&cache, pool, two);
    }
    rt_stack_cache_empty(&cache, pool);
    return (void *)wrong;
}

static void a_stack_is_held_by_one_thread_at_a_time(void) {
    rt_stack_pool *const pool = new_pool(RT_STACK_MIN_BYTES, 4);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, take_mark_and_give, pool) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK_UINT(0, (uintptr_t)wrong);
    }
    CHECK_UINT(0, account(pool).live);
    end_pool(pool);
}

int main(void) {
    a_size_outside_its_range_is_refused();
    a_stack_is_whole_pages_and_the_last_given_is_the_next_taken();
    reserved_and_committed_bytes_are_counted_apart();
    no_more_than_max_idle_stacks_keep_their_pages();
    an_address_belongs_to_the_guard_below_its_stack();
    without_memory_there_is_no_stack_and_the_pool_stays_whole();
    a_cache_hands_out_what_it_got_last_and_gives_all_of_it_back();
    a_stack_is_held_by_one_thread_at_a_time();
    rt_stack_pool_destroy(NULL);
    return check_done();
}
