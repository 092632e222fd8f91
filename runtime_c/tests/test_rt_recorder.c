#include "rt_random.h"
#include "rt_recorder.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { RECORDS = 300000 };

static rt_allocator allocator;
static rt_histogram taken, expected;
static _Atomic bool something_taken;

static rt_recorder *new_recorder(void) {
    rt_recorder *recorder = NULL;
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_recorder_create(&allocator, &recorder));
    rt_histogram_init(&taken);
    rt_histogram_init(&expected);
    return recorder;
}

static void end_recorder(rt_recorder *recorder) {
    rt_recorder_destroy(recorder);
    CHECK_UINT(0, atomic_load(&allocator.live_objects));
}

static void what_was_taken_is_not_taken_again(void) {
    rt_recorder *const recorder = new_recorder();
    rt_recorder_take(recorder, &taken);
    CHECK_UINT(0, taken.count);
    for (uint64_t round = 1; round <= 5; round++) { /* more rounds than buffers */
        rt_recorder_record(recorder, round);
        rt_recorder_record(recorder, 1000 * round);
        rt_histogram_init(&taken);
        rt_recorder_take(recorder, &taken);
        CHECK_UINT(2, taken.count);
        CHECK_UINT(round, taken.min_ns);
        CHECK_UINT(1000 * round, taken.max_ns);
    }
    rt_histogram_init(&taken);
    rt_recorder_take(recorder, &taken);
    CHECK_UINT(0, taken.count);
    CHECK_UINT(UINT64_MAX, taken.min_ns);
    end_recorder(recorder);
}

static void taking_adds_to_what_is_there(void) {
    rt_recorder *const recorder = new_recorder();
    rt_histogram_record(&taken, 7);
    rt_recorder_record(recorder, 9);
    rt_recorder_take(recorder, &taken);
    CHECK_UINT(2, taken.count);
    CHECK_UINT(7, taken.min_ns);
    CHECK_UINT(9, taken.max_ns);
    end_recorder(recorder);
}

static void without_memory_there_is_no_recorder(void) {
    rt_recorder *recorder = (rt_recorder *)&allocator;
    rt_allocator_init(&allocator, 1);
    CHECK_UINT(RT_NO_MEMORY, rt_recorder_create(&allocator, &recorder));
    CHECK(recorder == NULL);
    rt_recorder_destroy(NULL);
}

static uint64_t value_at(uint64_t number) { return rt_random_at(3, number) >> (number % 50); }

static void *record_all(void *argument) {
    for (uint64_t i = 0; i < RECORDS; i++) {
        rt_recorder_record(argument, value_at(i));
        /* Half of it is recorded while the reader takes for certain. */
        while (i == RECORDS / 2 && !atomic_load_explicit(&something_taken, memory_order_relaxed)) {
            sched_yield();
        }
    }
    return NULL;
}

/* Every value exactly once, whatever takes fall between; ThreadSanitizer sees the orders. */
static void nothing_is_lost_or_doubled_while_both_run(bool fenced) {
    rt_recorder *const recorder = new_recorder();
    recorder->fenced = recorder->fenced || fenced;
    atomic_store(&something_taken, false);
    pthread_t writer;
    CHECK(pthread_create(&writer, NULL, record_all, recorder) == 0);
    while (taken.count < RECORDS) {
        rt_recorder_take(recorder, &taken);
        atomic_store_explicit(&something_taken, taken.count > 0, memory_order_relaxed);
    }
    pthread_join(writer, NULL);
    rt_recorder_take(recorder, &taken);
    for (uint64_t i = 0; i < RECORDS; i++) {
        rt_histogram_record(&expected, value_at(i));
    }
    CHECK_UINT(0, memcmp(&expected, &taken, sizeof taken));
    end_recorder(recorder);
}

int main(void) {
    what_was_taken_is_not_taken_again();
    taking_adds_to_what_is_there();
    without_memory_there_is_no_recorder();
    nothing_is_lost_or_doubled_while_both_run(false);
    nothing_is_lost_or_doubled_while_both_run(true);
    return check_done();
}
