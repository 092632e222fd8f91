/* How many tasks waited and were in the system over the course of an open loop, and what follows from it:
 * whether the queue grew, Little's law, and how an outage was survived.
 *
 * Rows come from a thread that looks at fixed times of its own (the sampler): the submitter's looks would see
 * the system at its emptiest. Memory is bounded: when full, every second row is dropped. */
#ifndef RT_BACKLOG_H
#define RT_BACKLOG_H

#include "rt_allocator.h"
#include "rt_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rt_backlog rt_backlog;

typedef struct rt_backlog_row {
    uint64_t t_ns;      /* since the first submission */
    uint64_t queue;     /* admitted and not started */
    uint64_t in_system; /* admitted and not ended */
    uint64_t admitted, ended;
    uint64_t ended_time_ns; /* sum of the times from admission to finalisation of the ended ones */
    double in_system_s;     /* the tasks in the system integrated over time by whoever counts them, up to ... */
    uint64_t in_system_at_ns; /* ... this time, of any clock */
} rt_backlog_row;

/* Room for `capacity` rows, at least 16. RT_NO_MEMORY: *out is NULL. */
rt_status rt_backlog_create(rt_allocator *allocator, size_t capacity, rt_backlog **out);
void rt_backlog_destroy(rt_backlog *self); /* NULL is allowed */

/* One writer; times never fall. */
void rt_backlog_add(rt_backlog *self, const rt_backlog_row *row);

/* The part of an open loop that is judged: from 10 % of the submission to its end; with phases the last
 * 3 k whole rounds of them, k as large as possible. */
typedef struct rt_backlog_window {
    uint64_t from_ns, until_ns;
} rt_backlog_window;
rt_backlog_window rt_backlog_window_of(uint64_t submit_ns, uint64_t cycle_ns);

/* The queue grows when its mean rises from the first third of the window to the second and to the last, by at
 * least 1 % of the rate of admission, and by at least 50 ms of admissions and 16 tasks in all. */
typedef struct rt_backlog_growth {
    uint64_t window_ns;
    double queue_first, queue_last; /* means over the first and the last third */
    double growth_per_second;       /* their difference over two thirds of the window */
    bool growing;
} rt_backlog_growth;

/* NULL, or why nothing can be said of this window: *out is undefined then. */
const char *rt_backlog_growth_of(const rt_backlog *self, rt_backlog_window window, rt_backlog_growth *out);

/* L = lambda * W over a window: the mean number in the system from its integral, the rate of admission, and the
 * mean time of the tasks that ended in the window. */
typedef struct rt_backlog_little {
    uint64_t window_ns;
    double arrival_rate_per_s, mean_in_system, mean_time_ms, product, error_percent;
} rt_backlog_little;

/* NULL, or why the law says nothing here: *out is undefined then. */
const char *rt_backlog_little_of(const rt_backlog *self, rt_backlog_window window, rt_backlog_little *out);

/* All of tasks in the system. Recovered: after the outage and before the last submission there were no more
 * than 1.5 times as many as before it, or 16 more. */
typedef struct rt_backlog_outage {
    uint64_t before, peak; /* mean over the second half of the time before the outage; largest from its start on */
    bool recovered;
    uint64_t recovery_ns; /* from the end of the outage to the first such row */
} rt_backlog_outage;
void rt_backlog_outage_of(const rt_backlog *self, uint64_t start_ns, uint64_t end_ns, uint64_t submit_ns,
                          rt_backlog_outage *out);

#endif
