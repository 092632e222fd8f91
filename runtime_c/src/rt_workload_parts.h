/* Private to rt_workload*.c. */
#ifndef RT_WORKLOAD_PARTS_H
#define RT_WORKLOAD_PARTS_H

#include "rt_scheduler.h"
#include "rt_task_body.h"
#include "rt_task_pool.h"
#include "rt_workload.h"

#include <stdatomic.h>

struct rt_workload {
    rt_allocator allocator;
    rt_allocator auxiliary_allocator; /* a part of it */
    rt_workload_options options;
    const rt_clock *clock;
    rt_task_body *body;
    rt_task_pool *pool;
    rt_scheduler *scheduler;
    rt_scheduler *auxiliary;  /* NULL without auxiliary workers */
    _Atomic uint8_t *seen;    /* by task id: how often its completion was reported */
    rt_histogram *histograms; /* merged, RT_STAGES of them; NULL until the first result */
    _Atomic int phase;        /* an rt_phase */
    _Atomic int stop_requested;
    _Atomic uint64_t started_ns;
    _Atomic uint64_t finished_ns;
    int64_t started_at_s;
    rt_phase ended_in; /* the phase in which a stop met the run, else RT_PHASE_FINISHED */
    bool stopped;
    rt_workload_checks checks;
};

/* Submits all tasks by the chosen strategy; returns early, with RT_STOPPED, after a request to stop. */
rt_status rt_workload_submit_all(rt_workload *self);

/* How many task objects can be out of the pool at the same time. */
uint64_t rt_workload_task_objects(const rt_workload_options *options);

static inline bool rt_workload_must_stop(const rt_workload *self) {
    return atomic_load_explicit(&self->stop_requested, memory_order_relaxed) != 0;
}

#endif
