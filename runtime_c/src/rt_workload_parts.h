/* Private to rt_workload*.c. */
#ifndef RT_WORKLOAD_PARTS_H
#define RT_WORKLOAD_PARTS_H

#include "rt_scheduler.h"
#include "rt_task_body.h"
#include "rt_task_pool.h"
#include "rt_workload.h"

#include <stdalign.h>
#include <stdatomic.h>

#define RT_STOP_POLL_NS UINT64_C(20000000) /* how long whoever waits may miss a request to stop */

/* What `seen` holds of a task: how often its end was reported, whether its body ran, and how it ended. */
#define RT_SEEN_COUNT 0x07u
#define RT_SEEN_BODY 0x08u
#define RT_SEEN_END_SHIFT 4u
typedef enum rt_seen_end { RT_SEEN_COMPLETED = 1, RT_SEEN_FAILED, RT_SEEN_CANCELLED, RT_SEEN_TIMED_OUT } rt_seen_end;

/* Of one worker, written by it alone; the last one by whoever finalises a task that never ran. */
typedef struct rt_workload_tally {
    alignas(RT_LINE_BYTES) _Atomic uint64_t ended;
    _Atomic uint64_t time_ns; /* sum over them, from admission to finalisation */
    _Atomic uint64_t yields;
} rt_workload_tally;

struct rt_workload {
    rt_allocator allocator;
    rt_allocator auxiliary_allocator; /* a part of it */
    rt_workload_options options;
    const rt_clock *clock;
    rt_task_body *body;
    rt_task_pool *pool;
    rt_scheduler *scheduler;
    rt_scheduler *auxiliary; /* NULL without auxiliary workers */
    rt_faults chosen;
    rt_arrivals_options arrivals;
    bool disturbed;           /* tasks do more than their body: they may wait, fail, yield, be ended */
    rt_provider *provider;    /* when disturbed, else NULL */
    rt_tenants *tenants;      /* with faults, else NULL */
    rt_rollback *rollback;    /* with a snapshot, else NULL */
    rt_course *course;        /* open loop, else NULL; as the next */
    rt_histogram *lateness;
    rt_backlog *backlog;      /* open loop, or an outage; else NULL */
    rt_workload_tally *tallies; /* one a worker, and one; with a backlog or when disturbed, else NULL */
    rt_workload_batch *batches;
    uint32_t batch_count;
    _Atomic uint8_t *seen;    /* by task id: see RT_SEEN_COUNT */
    rt_histogram *histograms; /* merged, RT_STAGES and one of them; NULL until the first result */
    _Atomic int phase;        /* an rt_phase */
    _Atomic int stop_requested;
    _Atomic uint64_t started_ns;
    _Atomic uint64_t finished_ns;
    _Atomic uint64_t submitted_ns; /* the last submission returned, or the held workers were released */
    _Atomic uint64_t finalised;    /* tasks, counted only with kill_after_tasks */
    uint64_t last_submit_ns;
    uint64_t cancels_asked;
    uint64_t worker_cpu_ns, auxiliary_cpu_ns; /* of all worker threads when execute began; then: since */
    rt_workload_held held;
    int64_t started_at_s;
    rt_phase ended_in; /* the phase in which a stop met the run, else RT_PHASE_FINISHED */
    bool stopped;
    bool broke_off; /* with an error: tasks may have been taken back */
    uint64_t failed_unplanned;
    rt_workload_checks checks;
};

/* ---- rt_workload_create.c ---- */

/* Everything but the threads' first sleep. RT_INVALID, RT_NO_MEMORY, RT_NO_THREAD as rt_workload_create. */
rt_status rt_workload_create_parts(rt_workload *self, rt_message *why);

/* ---- rt_workload_tasks.c: what the scheduler calls ---- */

rt_scheduler_hooks rt_workload_hooks(rt_workload *self);

/* ---- rt_workload_submit.c, rt_workload_open.c ---- */

#define RT_SUBMIT_BATCH 32u
#define RT_SUBMIT_MOST 256u

/* Submits all tasks by the chosen strategy; returns early, with RT_STOPPED, after a request to stop. */
rt_status rt_workload_submit_all(rt_workload *self);
rt_status rt_workload_submit_open(rt_workload *self);

/* Takes `count` (up to RT_SUBMIT_MOST) tasks from the pool, numbers them from first_id, submits them, asks for
 * the cancels of those that are chosen, and puts back what was rejected. due_ns: their intended times, or NULL. */
rt_status rt_workload_submit_batch(rt_workload *self, uint64_t first_id, size_t count, const uint64_t *due_ns);

/* Waits until everything is finalised; after a request to stop what has not started is cancelled. */
rt_status rt_workload_drain(rt_workload *self);

/* Tells the course of an open loop where the load is; does nothing otherwise. By the submitter. */
void rt_workload_follow(rt_workload *self, uint64_t now_ns, bool draining);

/* How many task objects can be out of the pool at the same time. */
uint64_t rt_workload_task_objects(const rt_workload_options *options);

/* ---- the rest ---- */

/* Sum over the threads of both schedulers. */
void rt_workload_read_cpu(const rt_workload *self, uint64_t *worker_ns, uint64_t *auxiliary_ns);

static inline bool rt_workload_must_stop(const rt_workload *self) {
    return atomic_load_explicit(&self->stop_requested, memory_order_relaxed) != 0;
}

static inline bool rt_workload_is_open(const rt_workload *self) {
    return rt_submission_is_open(self->options.submission);
}

static inline uint64_t rt_workload_since_start(const rt_workload *self, uint64_t now_ns) {
    const uint64_t start_ns = atomic_load_explicit(&self->started_ns, memory_order_relaxed);
    return now_ns > start_ns ? now_ns - start_ns : 0;
}

#endif
