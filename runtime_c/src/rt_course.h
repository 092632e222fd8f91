/* The course of an open loop: its phases apart, and a row for each of many equal periods.
 *
 * The submitter drives it: it says what phase the load is in, hands over the counts, and closes phases and
 * periods when it comes by after their end; so a boundary lies at most as late as the submitter is (20 ms
 * while it waits). Latencies come from one recorder a worker and belong to the phase and the period in which
 * their task was finalised. */
#ifndef RT_COURSE_H
#define RT_COURSE_H

#include "rt_allocator.h"
#include "rt_arrivals.h"
#include "rt_histogram.h"
#include "rt_memory.h"
#include "rt_recorder.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdbool.h>
#include <stdint.h>

#define RT_COURSE_MAX_PERIODS 4096u

typedef struct rt_course rt_course;

typedef struct rt_course_options {
    rt_allocator *allocator; /* outlives the course */
    uint32_t workers;
    uint64_t period_ns;     /* 0: no periods; doubled whenever the rows are full */
    uint32_t max_periods;   /* 2 .. RT_COURSE_MAX_PERIODS */
    const char *proc_root;  /* "" on a real machine */
} rt_course_options;

/* RT_NO_MEMORY: nothing is kept, *out is NULL. */
rt_status rt_course_create(const rt_course_options *options, rt_course **out);
void rt_course_destroy(rt_course *self); /* NULL is allowed */

/* By worker's thread alone: the queue latency of a task that it finalised. For any other number, by any thread. */
void rt_course_record(rt_course *self, uint32_t worker, uint64_t queue_ns);

/* All three by the submitter. Times in nanoseconds since the first submission; they never fall. */
void rt_course_begin(rt_course *self, rt_load_phase phase);
void rt_course_observe(rt_course *self, uint64_t at_ns, rt_load_phase phase, const rt_scheduler_counts *counts);
/* Closes the last phase and the last period. After it the functions below may be used. */
void rt_course_end(rt_course *self, uint64_t at_ns, const rt_scheduler_counts *counts);

/* When the present period ends; UINT64_MAX without periods. */
uint64_t rt_course_period_end_ns(const rt_course *self);

/* One phase over all its repetitions. */
typedef struct rt_course_phase {
    bool seen;
    uint64_t elapsed_ns;
    uint64_t submitted, completed, failed;
    uint64_t queue_at_start; /* when it first began */
    uint64_t queue_at_end;   /* when it last ended */
    uint64_t queue_peak;     /* largest that the submitter saw */
    rt_histogram queue;      /* queue latency of the tasks finalised in it */
} rt_course_phase;
const rt_course_phase *rt_course_phase_of(const rt_course *self, rt_load_phase phase);

typedef struct rt_course_period {
    uint64_t t_ns; /* its end */
    uint64_t submitted, completed, failed, cancelled, timed_out;
    uint64_t latencies;              /* tasks finalised in it; the three below mean nothing when it is 0 */
    uint64_t p50_ns, p95_ns, p99_ns; /* of their queue latency */
    uint64_t queue, active;          /* at its end */
    uint64_t rss_bytes, threads;     /* at its end; 0: could not be read */
    uint64_t written_bytes;          /* by the process to files and pipes since the start; UINT64_MAX: not readable */
} rt_course_period;
uint32_t rt_course_periods(const rt_course *self);
const rt_course_period *rt_course_period_at(const rt_course *self, uint32_t index);

#endif
