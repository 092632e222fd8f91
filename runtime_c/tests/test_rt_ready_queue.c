#include "rt_ready_queue.h"
#include "rt_random.h"

#include "check.h"

static rt_ready_queue queue;

static void put(rt_task *task, uint64_t id, unsigned priority) {
    *task = (rt_task){.id = id, .priority = (uint8_t)priority};
    rt_ready_queue_push_back(&queue, task);
}

/* Takes up to `limit` tasks as one list. */
static uint32_t take(rt_task **tasks, uint32_t limit) {
    rt_task_group groups[64];
    uint32_t group_count;
    const uint32_t taken = rt_ready_queue_take(&queue, limit, groups, &group_count);
    uint32_t listed = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        rt_task *task = groups[g].first;
        for (uint32_t i = 0; i < groups[g].count; i++, task = task->next) {
            tasks[listed++] = task;
        }
    }
    CHECK_UINT(taken, listed);
    return taken;
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
    CHECK_UINT(6, take(taken, 6));
    const uint64_t expected[] = {1, 3, 2, 4, 0, 5};
    for (unsigned i = 0; i < 6; i++) {
        CHECK_UINT(expected[i], taken[i]->id);
    }
    CHECK_UINT(0, queue.count);
    CHECK_UINT(0, rt_ready_queue_top(&queue));
    CHECK_UINT(0, take(taken, 6));
}

static void check_order(rt_task **tasks, const uint64_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        CHECK_UINT(ids[i], tasks[i]->id);
    }
}

static void what_is_given_back_leaves_again_in_its_old_order(void) {
    rt_task tasks[5];
    rt_task *taken[5];
    rt_ready_queue_init(&queue);
    for (unsigned i = 0; i < 4; i++) {
        put(&tasks[i], i, 7);
    }
    CHECK_UINT(3, take(taken, 3));
    rt_ready_queue_push_front(&queue, (rt_task_group){taken[1], 2, RT_READY_LANE}); /* before task 3 */
    put(&tasks[4], 4, 7);
    CHECK_UINT(4, queue.count);
    CHECK_UINT(4, take(taken, 5));
    check_order(taken, (const uint64_t[]){1, 2, 3, 4}, 4);
}

static void giving_back_to_an_empty_level_keeps_its_end(void) {
    rt_task tasks[4];
    rt_task *taken[4];
    rt_ready_queue_init(&queue);
    put(&tasks[0], 0, 9);
    put(&tasks[1], 1, 9);
    put(&tasks[2], 2, 9);
    CHECK_UINT(3, take(taken, 3));
    rt_ready_queue_push_front(&queue, (rt_task_group){taken[1], 2, RT_READY_LANE});
    put(&tasks[3], 3, 9);
    CHECK_UINT(3, take(taken, 4));
    check_order(taken, (const uint64_t[]){1, 2, 3}, 3);
}

static void groups_of_any_size_are_cut_where_the_limit_says(void) {
    static rt_task tasks[3 * RT_READY_QUEUE_GROUP + 1];
    for (uint32_t limit = 1; limit < 3 * RT_READY_QUEUE_GROUP; limit++) {
        rt_task *taken[3 * RT_READY_QUEUE_GROUP + 1];
        rt_ready_queue_init(&queue);
        for (unsigned i = 0; i <= 3 * RT_READY_QUEUE_GROUP; i++) {
            put(&tasks[i], i, 0);
        }
        uint64_t expected = 0;
        while (queue.count > 0) {
            const uint32_t count = take(taken, limit);
            for (uint32_t i = 0; i < count; i++) {
                CHECK_UINT(expected++, taken[i]->id);
            }
            CHECK(count == limit || queue.count == 0);
        }
        CHECK_UINT(3 * RT_READY_QUEUE_GROUP + 1, expected);
    }
}

static bool in_front[3000];

/* Whether task a leaves before task b, which was submitted later or is none. */
static bool is_before(const rt_task *a, const rt_task *b) {
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return in_front[a->id] && !in_front[b->id];
}

/* Against the definition: the task to leave has the highest priority, is in the front lane if any of those is,
 * and has the lowest number. */
static void random_use_agrees_with_the_definition(void) {
    enum { TASKS = 3000 };
    static rt_task tasks[TASKS];
    static bool waiting[TASKS];
    uint64_t submitted = 0, held = 0;
    rt_ready_queue_init(&queue);
    for (uint64_t step = 0; submitted < TASKS || held > 0; step++) {
        const uint64_t random = rt_random_at(31, step);
        if (submitted < TASKS && random % 16 != 0) {
            in_front[submitted] = (random >> 40) % 4 == 0;
            tasks[submitted] = (rt_task){.id = submitted, .priority = (uint8_t)((random >> 56) % 5u * 63u)};
            rt_ready_queue_push(&queue, in_front[submitted] ? RT_READY_FRONT_LANE : RT_READY_LANE,
                                &tasks[submitted]);
            waiting[submitted++] = true;
            held++;
            continue;
        }
        rt_task *taken[40];
        const uint32_t count = take(taken, (uint32_t)(random >> 8) % 40u + 1u);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t best = UINT64_MAX;
            for (uint64_t id = 0; id < submitted; id++) {
                if (waiting[id] && (best == UINT64_MAX || is_before(&tasks[id], &tasks[best]))) {
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
    giving_back_to_an_empty_level_keeps_its_end();
    groups_of_any_size_are_cut_where_the_limit_says();
    random_use_agrees_with_the_definition();
    return check_done();
}
