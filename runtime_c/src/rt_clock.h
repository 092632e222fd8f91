/* Time: monotonic nanoseconds for every interval, wall time only for dates. Injectable. */
#ifndef RT_CLOCK_H
#define RT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* "YYYY-MM-DDTHH:MM:SSZ" and its terminating zero. */
#define RT_CLOCK_DATE_BYTES 21

/* A source of time. Both functions may be called from any thread. */
typedef struct rt_clock {
    uint64_t (*now_ns)(void *context); /* monotonic; NULL means CLOCK_MONOTONIC */
    int64_t (*wall_s)(void *context);  /* seconds since 1970 UTC; NULL means CLOCK_REALTIME */
    void *context;
} rt_clock;

/* The machine's own clock. */
extern const rt_clock rt_clock_machine;

/* Nanoseconds of CLOCK_MONOTONIC: never steps with the wall clock. About 25 ns a read. */
static inline uint64_t rt_clock_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t rt_clock_now_ns(const rt_clock *self) {
    return self->now_ns == NULL ? rt_clock_monotonic_ns() : self->now_ns(self->context);
}

/* Seconds since 1970 in UTC. */
int64_t rt_clock_wall_s(const rt_clock *self);

/* Writes a date in UTC; RT_CLOCK_DATE_BYTES with the zero. Years 0000 to 9999; others become 9999-12-31. */
void rt_clock_date(int64_t wall_s, char out[RT_CLOCK_DATE_BYTES]);

/* The absolute CLOCK_MONOTONIC time `timeout_ns` from now, for pthread_cond_timedwait. Saturates. */
struct timespec rt_clock_deadline(uint64_t timeout_ns);

/* end - start, or 0 with *clamped increased when the end lies before the start. */
static inline uint64_t rt_clock_interval_ns(uint64_t start_ns, uint64_t end_ns, uint64_t *clamped) {
    if (end_ns >= start_ns) {
        return end_ns - start_ns;
    }
    (*clamped)++;
    return 0;
}

#endif
