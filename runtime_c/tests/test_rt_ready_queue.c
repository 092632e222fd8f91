#include "rt_ready_queue.h"
#include "rt_random.h"

#include "check.h"

static rt_ready_queue queue;

static void put(rt_task *task, uint64_t id, unsigned priority) {
    *task = (rt_task){.id = id, .priority = (uint8_t)priority};
    rt_ready_queue_push_back(&queue, task);
}

static void higher_priorities_leave_first_then_the_order_of_submission(void) {
    rt_task tasks[6];
    rt_task *taken[6];
    rt_ready_queue_init(&queue);
    put(&tasks[0], 0, 0);
    put(&tasks[1], 1, 255);
    put(&tasks[2], 2, 64);
    put(&tasks[3], 3, 255);
    put(&tasks[4], 4, 63);
    put(&tasks[5], 5, 0);
    CHECK_UINT(255, rt_ready_queue_top(&queue));
    CHECK_UINT(6, rt_ready_queue_take(&queue, taken, 6));
    const uint64_t expected[] = {1, 3, 2, 4, 0, 5};
    for (unsigned i = 0; i < 6; i++) {
        CHECK_UINT(expected[i], taken[i]->id);
    }
    CHECK_UINT(0, queue.count);
    CHECK_UINT(0, rt_ready_queue_top(&queue));
    CHECK_UINT(0, rt_ready_queue_take(&queue, taken, 6));
}

static void what_is_given_back_leaves_again_in_its_old_order(void) {
    rt_task tasks[4];
    rt_task *taken[4];
    rt_ready_queue_init(&queue);
    for (unsigned i = 0; i < 4; i++) {
        put(&tasks[i], i, 7);
    }
    CHECK_UINT(3, rt_ready_queue_take(&queue, taken, 3));
    rt_ready_queue_push_front(&queue, taken[2]);
    rt_ready_queue_push_front(&queue, taken[1]);
    CHECK_UINT(3, queue.count);
    CHECK_UINT(3, rt_ready_queue_take(&queue, taken, 4));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_UINT(i + 1, taken[i]->id);
    }
}

static void giving_back_to_an_empty_level_keeps_its_tail(void) {
    rt_task tasks[2];
    rt_task *taken[2];
    rt_ready_queue_init(&queue);
    put(&tasks[0], 0, 9);
    CHECK_UINT(1, rt_ready_queue_take(&queue, taken, 2));
    rt_ready_queue_push_front(&queue, taken[0]);
    put(&tasks[1], 1, 9);
    CHECK_UINT(2, rt_ready_queue_take(&queue, taken, 2));
    CHECK_UINT(0, taken[0]->id);
    CHECK_UINT(1, taken[1]->id);
}

/* Against the definition: the task to leave has the highest priority and, among those, the lowest number. */
static void random_use_agrees_with_the_definition(void) {
    enum { TASKS = 3000 };
    static rt_task tasks[TASKS];
    static bool waiting[TASKS];
    uint64_t submitted = 0, held = 0;
    rt_ready_queue_init(&queue);
    for (uint64_t step = 0; submitted < TASKS || held > 0; step++) {
        const uint64_t random = rt_random_at(31, step);
        if (submitted < TASKS && random % 3 != 0) {
            put(&tasks[submitted], submitted, (unsigned)(random >> 56) % 5u * 63u);
            waiting[submitted++] = true;
            held++;
            continue;
        }
        rt_task *taken[4];
        const uint32_t count = rt_ready_queue_take(&queue, taken, (uint32_t)(random >> 8) % 4u + 1u);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t best = UINT64_MAX;
            for (uint64_t id = 0; id < submitted; id++) {
                if (waiting[id] && (best == UINT64_MAX || tasks[id].priority > tasks[best].priority)) {
                    best = id;
                }
            }
            CHECK_UINT(best, taken[i]->id);
            waiting[taken[i]->id] = false;
            held--;
        }
        CHECK_UINT(held, queue.count);
    }
}

int main(void) {
    higher_priorities_leave_first_then_the_order_of_submission();
    what_is_given_back_leaves_again_in_its_old_order();
    giving_back_to_an_empty_level_keeps_its_tail();
    random_use_agrees_with_the_definition();
    return check_done();
}
