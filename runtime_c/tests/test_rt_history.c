#include "rt_history.h"
#include "rt_random.h"

#include "check.h"

static rt_allocator allocator;
static uint32_t spare;

static void start(rt_history *history, uint64_t limit_tasks, uint64_t limit_bytes, uint32_t capacity_bytes) {
    CHECK_UINT(RT_OK, rt_history_init(history, &allocator, limit_tasks, limit_bytes, capacity_bytes, 1));
    spare = rt_history_spare(history, 0);
}

static void put(rt_history *history, uint64_t id, uint32_t output_bytes) {
    rt_history_entry *const entry = rt_history_entry_of(history, spare);
    entry->record = (rt_task_record){.task_id = id, .output_bytes = output_bytes};
    memset(entry->output, (int)(id & 0xff), output_bytes);
    rt_history_put(history, &spare);
}

static void the_last_tasks_stay_up_to_the_count(void) {
    rt_history history;
    start(&history, 3, 1u << 20, 16);
    for (uint64_t id = 0; id < 10; id++) {
        put(&history, id, 16);
        CHECK_UINT(id < 3 ? id + 1 : 3, history.count);
    }
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_UINT(7 + i, rt_history_at(&history, i)->record.task_id);
        CHECK_UINT(7 + i, rt_history_at(&history, i)->output[15]);
    }
    CHECK_UINT(3 * (sizeof(rt_task_record) + 16), history.bytes);
    rt_history_reset(&history, &allocator);
}

static void the_byte_limit_drops_the_oldest_first(void) {
    rt_history history;
    const uint64_t limit_bytes = 3 * sizeof(rt_task_record) + 100;
    start(&history, 10, limit_bytes, 100);
    put(&history, 0, 0);
    put(&history, 1, 0);
    put(&history, 2, 90); /* exactly three records and 90 bytes */
    CHECK_UINT(3, history.count);
    put(&history, 3, 0); /* a fourth record does not fit: task 0 goes */
    CHECK_UINT(3, history.count);
    CHECK_UINT(1, rt_history_at(&history, 0)->record.task_id);
    put(&history, 4, 20); /* 90 + 20 bytes of output are too much: 1 and 2 go */
    CHECK_UINT(2, history.count);
    CHECK_UINT(3, rt_history_at(&history, 0)->record.task_id);
    CHECK_UINT(4, rt_history_at(&history, 1)->record.task_id);
    CHECK(history.bytes <= limit_bytes);
    rt_history_reset(&history, &allocator);
}

static void a_task_that_alone_exceeds_the_byte_limit_is_not_kept_and_pushes_nothing_out(void) {
    rt_history history;
    start(&history, 10, 2 * sizeof(rt_task_record), 1000);
    put(&history, 0, 0);
    put(&history, 1, 1000);
    CHECK_UINT(1, history.count);
    CHECK_UINT(0, rt_history_at(&history, 0)->record.task_id);
    CHECK_UINT(1, history.oversized);
    CHECK(history.bytes <= history.limit_bytes);
    rt_history_reset(&history, &allocator);
}

static void limits_of_zero_keep_nothing(void) {
    rt_history history;
    start(&history, 0, 1u << 20, 8);
    put(&history, 0, 8);
    CHECK_UINT(0, history.count + history.bytes + history.oversized);
    rt_history_reset(&history, &allocator);
    start(&history, 10, 0, 8);
    put(&history, 0, 8);
    CHECK_UINT(0, history.count + history.bytes);
    CHECK_UINT(1, history.oversized);
    rt_history_reset(&history, &allocator);
}

/* Against the definition: the longest run of newest tasks that keeps both limits, oversized ones left out. */
static void random_use_keeps_both_limits_and_the_newest_tasks(void) {
    enum { TASKS = 2000, LIMIT_TASKS = 20 };
    static uint32_t sizes[TASKS];
    const uint64_t limit_bytes = 15 * sizeof(rt_task_record) + 700;
    rt_history history;
    start(&history, LIMIT_TASKS, limit_bytes, 2000);
    for (uint64_t id = 0; id < TASKS; id++) {
        sizes[id] = (uint32_t)(rt_random_at(41, id) % (id % 50 == 0 ? 2000u : 120u));
        put(&history, id, sizes[id]);
        CHECK(history.count <= LIMIT_TASKS && history.bytes <= limit_bytes);
        uint64_t bytes = 0;
        uint64_t newest = id;
        for (uint64_t i = history.count; i-- > 0; newest--) {
            while (sizeof(rt_task_record) + sizes[newest] > limit_bytes) {
                newest--;
            }
            CHECK_UINT(newest, rt_history_at(&history, i)->record.task_id);
            bytes += sizeof(rt_task_record) + sizes[newest];
        }
        CHECK_UINT(bytes, history.bytes);
    }
    rt_history_reset(&history, &allocator);
}

/* Bug 19: a cap on the shown history while an index behind it went on growing. */
static void bug19_a_million_tasks_allocate_nothing_more(void) {
    rt_history history;
    start(&history, 64, 1u << 20, 64);
    const uint64_t allocations = allocator.allocations;
    const uint64_t live = allocator.live_objects;
    for (uint64_t id = 0; id < 1000000; id++) {
        put(&history, id, 64);
    }
    CHECK_UINT(64, history.count);
    CHECK_UINT(999999, rt_history_at(&history, 63)->record.task_id);
    CHECK_UINT(allocations, allocator.allocations);
    CHECK_UINT(live, allocator.live_objects);
    rt_history_reset(&history, &allocator);
}

static void no_memory_leaves_nothing_behind(void) {
    for (uint64_t fail_at = 1; fail_at <= 2; fail_at++) {
        rt_allocator failing;
        rt_history history;
        rt_allocator_init(&failing, fail_at);
        CHECK_UINT(RT_NO_MEMORY, rt_history_init(&history, &failing, 4, 4096, 16, 2));
        CHECK_UINT(0, failing.live_objects);
    }
    rt_history history;
    CHECK_UINT(RT_NO_MEMORY, rt_history_init(&history, &allocator, UINT64_MAX / 128, UINT64_MAX, 64, 2));
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    the_last_tasks_stay_up_to_the_count();
    the_byte_limit_drops_the_oldest_first();
    a_task_that_alone_exceeds_the_byte_limit_is_not_kept_and_pushes_nothing_out();
    limits_of_zero_keep_nothing();
    random_use_keeps_both_limits_and_the_newest_tasks();
    bug19_a_million_tasks_allocate_nothing_more();
    no_memory_leaves_nothing_behind();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
