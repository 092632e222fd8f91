#include "rt_agent_pool.h"
#include "rt_random.h"

#include "check.h"

#include <stdbool.h>

static rt_allocator allocator;

static rt_agent_pool *pool_of(uint32_t capacity) {
    rt_agent_pool *pool;
    CHECK_UINT(RT_OK, rt_agent_pool_create(&allocator, capacity, &pool, NULL));
    return pool;
}

static rt_status add(rt_agent_pool *pool, const char *name, const char *text) {
    return rt_agent_pool_add(pool, name, strlen(name), text, strlen(text));
}

static const rt_agent_role *find(const rt_agent_pool *pool, const char *name) {
    return rt_agent_pool_find(pool, name, strlen(name));
}

static void roles_are_found_by_their_whole_name(void) {
    rt_agent_pool *const pool = pool_of(3);
    CHECK_UINT(RT_OK, add(pool, "judge", "weigh"));
    CHECK_UINT(RT_OK, add(pool, "judges", ""));
    const rt_agent_role *const judge = find(pool, "judge");
    CHECK(judge != NULL && judge->name_bytes == 5 && judge->text_bytes == 5);
    CHECK(judge != NULL && memcmp(judge->text, "weigh", 5) == 0);
    CHECK(find(pool, "judges") != NULL && find(pool, "judges") != judge);
    CHECK(find(pool, "judg") == NULL);
    CHECK(find(pool, "") == NULL);
    CHECK_UINT(2, rt_agent_pool_count(pool));
    rt_agent_pool_destroy(pool);
}

static void refusals_leave_the_pool_unchanged(void) {
    static const char long_text[RT_AGENT_TEXT_MAX_BYTES + 1];
    rt_agent_pool *const pool = pool_of(2);
    CHECK_UINT(RT_OK, add(pool, "one", "first"));
    const uint64_t bytes = rt_agent_pool_bytes(pool);
    CHECK_UINT(RT_EXISTS, add(pool, "one", "second"));
    CHECK_UINT(RT_INVALID, add(pool, "", "nameless"));
    CHECK_UINT(RT_INVALID, rt_agent_pool_add(pool, long_text, RT_AGENT_NAME_MAX_BYTES + 1, "", 0));
    CHECK_UINT(RT_INVALID, rt_agent_pool_add(pool, "x", 1, long_text, RT_AGENT_TEXT_MAX_BYTES + 1));
    CHECK_UINT(RT_NOT_FOUND, rt_agent_pool_remove(pool, "two", 3));
    CHECK_UINT(bytes, rt_agent_pool_bytes(pool));
    CHECK_UINT(RT_OK, add(pool, "two", ""));
    CHECK_UINT(RT_FULL, add(pool, "three", ""));
    CHECK_UINT(2, rt_agent_pool_count(pool));
    CHECK(memcmp(find(pool, "one")->text, "first", 5) == 0);
    rt_agent_pool_destroy(pool);
}

static void bytes_return_when_roles_are_removed(void) {
    rt_agent_pool *const pool = pool_of(10);
    const uint64_t empty_bytes = rt_agent_pool_bytes(pool);
    CHECK_UINT(RT_OK, add(pool, "a", "some text"));
    CHECK(rt_agent_pool_bytes(pool) >= empty_bytes + 10);
    CHECK_UINT(RT_OK, rt_agent_pool_remove(pool, "a", 1));
    CHECK_UINT(empty_bytes, rt_agent_pool_bytes(pool));
    rt_agent_pool_destroy(pool);
}

/* Against a plain table of what must be there, with a pool so full that clusters form and wrap around. */
static void adding_and_removing_at_random_agrees_with_a_table(void) {
    enum { NAMES = 200, STEPS = 20000 };
    bool present[NAMES] = {false};
    uint32_t count = 0;
    rt_agent_pool *const pool = pool_of(64);
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t random = rt_random_at(21, step);
        const unsigned which = (unsigned)(random % NAMES);
        char name[16];
        snprintf(name, sizeof name, "r%u", which);
        if (random >> 63) {
            const rt_status expected = present[which] ? RT_EXISTS : count == 64 ? RT_FULL : RT_OK;
            CHECK_UINT(expected, add(pool, name, name));
            count += expected == RT_OK;
            present[which] = present[which] || expected == RT_OK;
        } else {
            CHECK_UINT(present[which] ? RT_OK : RT_NOT_FOUND, rt_agent_pool_remove(pool, name, strlen(name)));
            count -= present[which];
            present[which] = false;
        }
        const unsigned asked = (unsigned)((random >> 20) % NAMES);
        snprintf(name, sizeof name, "r%u", asked);
        const rt_agent_role *const role = find(pool, name);
        CHECK_UINT(present[asked], role != NULL);
        CHECK(role == NULL || memcmp(role->name, name, strlen(name)) == 0);
        CHECK_UINT(count, rt_agent_pool_count(pool));
    }
    rt_agent_pool_destroy(pool);
}

static void a_hundred_thousand_roles_are_all_found(void) {
    enum { ROLES = 100000 };
    rt_agent_pool *const pool = pool_of(ROLES);
    char name[16];
    for (unsigned i = 0; i < ROLES; i++) {
        snprintf(name, sizeof name, "role-%u", i);
        CHECK_UINT(RT_OK, add(pool, name, "x"));
    }
    for (unsigned i = 0; i < ROLES; i++) {
        snprintf(name, sizeof name, "role-%u", i);
        CHECK(find(pool, name) != NULL);
    }
    CHECK(find(pool, "role-100000") == NULL);
    rt_agent_pool_destroy(pool);
}

static void a_prompt_is_name_text_and_task(void) {
    rt_agent_pool *const pool = pool_of(1);
    char out[64];
    size_t length = 0;
    CHECK_UINT(RT_OK, add(pool, "judge", "Weigh it."));
    memset(out, '#', sizeof out);
    CHECK_UINT(RT_OK, rt_agent_pool_prompt(find(pool, "judge"), "Task 7", 6, out, sizeof out, &length));
    CHECK_UINT(24, length);
    CHECK(memcmp(out, "[judge] Weigh it.\nTask 7#", 25) == 0);
    rt_agent_pool_destroy(pool);
}

static void a_buffer_that_is_one_byte_short_stays_unchanged(void) {
    rt_agent_pool *const pool = pool_of(1);
    char out[24];
    char before[24];
    size_t length = 0;
    CHECK_UINT(RT_OK, add(pool, "judge", "Weigh it."));
    memset(out, '#', sizeof out);
    memset(before, '#', sizeof before);
    CHECK_UINT(RT_TOO_SMALL, rt_agent_pool_prompt(find(pool, "judge"), "Task 7", 6, out, 23, &length));
    CHECK_UINT(24, length);
    CHECK(memcmp(out, before, sizeof out) == 0);
    CHECK_UINT(RT_OK, rt_agent_pool_prompt(find(pool, "judge"), "Task 7", 6, out, 24, &length));
    rt_agent_pool_destroy(pool);
}

static void role_counts_out_of_range_are_refused_with_a_sentence(void) {
    rt_agent_pool *pool;
    rt_message why;
    CHECK_UINT(RT_INVALID, rt_agent_pool_create(&allocator, 0, &pool, &why));
    CHECK_TEXT("agents is 0; choose 1 to 1000000 registered roles", why.text);
    CHECK(pool == NULL);
    CHECK_UINT(RT_INVALID, rt_agent_pool_create(&allocator, RT_AGENT_POOL_MAX_ROLES + 1, &pool, &why));
}

static void no_memory_leaves_nothing_behind(void) {
    for (uint64_t fail_at = 1; fail_at <= 3; fail_at++) {
        rt_allocator failing;
        rt_agent_pool *pool;
        rt_allocator_init(&failing, fail_at);
        const rt_status status = rt_agent_pool_create(&failing, 10, &pool, NULL);
        CHECK_UINT(fail_at <= 2 ? RT_NO_MEMORY : RT_OK, status);
        if (status == RT_OK) {
            CHECK_UINT(RT_NO_MEMORY, add(pool, "a", "b"));
            CHECK_UINT(0, rt_agent_pool_count(pool));
        }
        rt_agent_pool_destroy(pool);
        CHECK_UINT(0, failing.live_objects);
    }
}

/* By hand: an empty pool has nothing to find; one role stands at its home; a fuller pool is counted by looking. */
static void the_shape_counts_places_and_probes(void) {
    rt_agent_pool *const pool = pool_of(64);
    rt_agent_pool_shape shape;
    rt_agent_pool_measure(pool, &shape);
    CHECK_UINT(128, shape.places);
    CHECK_UINT(128 * 8, shape.index_bytes);
    CHECK_UINT(0, shape.roles + shape.probes + shape.collisions + shape.longest_probe);
    CHECK_UINT(RT_OK, add(pool, "one", ""));
    rt_agent_pool_measure(pool, &shape);
    CHECK_UINT(1, shape.roles);
    CHECK_UINT(1, shape.probes);
    CHECK_UINT(1, shape.longest_probe);
    CHECK_UINT(0, shape.collisions);
    for (unsigned i = 1; i < 64; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%u", i);
        CHECK_UINT(RT_OK, add(pool, name, ""));
    }
    rt_agent_pool_measure(pool, &shape);
    CHECK_UINT(64, shape.roles);
    CHECK(shape.collisions > 0 && shape.collisions < 64);
    CHECK(shape.longest_probe > 1 && shape.longest_probe <= 64);
    CHECK(shape.probes >= 64 + shape.collisions);
    CHECK(shape.probes <= 64 + (uint64_t)shape.collisions * (shape.longest_probe - 1));
    CHECK_UINT(rt_agent_pool_bytes(pool), shape.registry_bytes);
    rt_agent_pool_destroy(pool);
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    roles_are_found_by_their_whole_name();
    refusals_leave_the_pool_unchanged();
    bytes_return_when_roles_are_removed();
    adding_and_removing_at_random_agrees_with_a_table();
    a_hundred_thousand_roles_are_all_found();
    a_prompt_is_name_text_and_task();
    a_buffer_that_is_one_byte_short_stays_unchanged();
    role_counts_out_of_range_are_refused_with_a_sentence();
    no_memory_leaves_nothing_behind();
    the_shape_counts_places_and_probes();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
