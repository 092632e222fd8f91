#include "pace.h"

#include <sys/prctl.h>
#include <time.h>

static uint64_t due_ns(const bench_options *options, uint64_t start_ns, uint64_t id) {
    return start_ns + (uint64_t)((unsigned __int128)id * 1000000000u / options->rate_per_s);
}

static void sleep_until(uint64_t then_ns) {
    const uint64_t now_ns = measure_now_ns();
    const uint64_t shortest_ns = now_ns + PACE_SHORTEST_NS;
    const uint64_t wake_ns = then_ns > shortest_ns ? then_ns : shortest_ns;
    const struct timespec wake = {.tv_sec = (time_t)(wake_ns / 1000000000u),
                                  .tv_nsec = (long)(wake_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
}

void pace(const bench_options *options, pace_submit submit, void *context) {
    const uint64_t start_ns = measure_now_ns();
    prctl(PR_SET_TIMERSLACK, 1000ul); /* of this thread alone; the default adds 50 us to every sleep */
    for (uint64_t next = 0; next < options->tasks;) {
        uint64_t intended_ns[PACE_BATCH];
        const uint64_t now_ns = measure_now_ns();
        size_t count = 0;
        while (count < PACE_BATCH && next + count < options->tasks) {
            intended_ns[count] = due_ns(options, start_ns, next + count);
            if (intended_ns[count] > now_ns) {
                break;
            }
            count++;
        }
        if (count == 0) {
            sleep_until(intended_ns[0]);
            continue;
        }
        submit(context, next, count, intended_ns);
        next += count;
    }
}
