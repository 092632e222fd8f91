/* Private to rt_scheduler*.c: what the scheduler and its workers share. */
#ifndef RT_SCHEDULER_PARTS_H
#define RT_SCHEDULER_PARTS_H

#include "rt_history.h"
#include "rt_ready_queue.h"
#include "rt_scheduler.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#define RT_STACK_BYTES (256u * 1024u)

/* A value of yield_above that every held task yields to. */
#define RT_YIELD_ALL RT_SCHEDULER_LEVELS

/* Tasks that a worker took under one lock. tasks[0 .. ran-1] have run; the others are in groups[left ..]. */
typedef struct rt_batch {
    uint32_t count;
    uint32_t ran;
    uint32_t group_count;
    uint32_t left;
    uint64_t dequeued_ns;
    rt_task *tasks[RT_SCHEDULER_MAX_BATCH];
    rt_task_group groups[RT_SCHEDULER_MAX_BATCH];
} rt_batch;

typedef struct rt_worker {
    /* Twice the tasks started, less one while a runner runs. Written by this worker alone, once before and
     * once after a task; read by whoever needs the exact queue length. On a line of its own. */
    alignas(RT_LINE_BYTES) _Atomic uint64_t steps;
    /* Guarded by the lock. */
    alignas(RT_LINE_BYTES) pthread_cond_t wake;
    bool woken;
    /* The worker's own. */
    alignas(RT_LINE_BYTES) struct rt_scheduler *scheduler;
    pthread_t thread;
    uint32_t index;
    uint32_t batch_limit; /* tasks that fit the time budget of a batch, by what tasks took lately */
    uint64_t mean_run_ns;
    uint64_t runs, settled, recorded; /* counters that choose which task's spans are timed */
    uint64_t clamped_intervals;
    void *stack;
    size_t stack_bytes;
    rt_histogram *histograms;                /* RT_SCHEDULER_STAGES of them */
    uint32_t spares[RT_SCHEDULER_MAX_BATCH]; /* history entries: the i-th receives the i-th task of a batch */
} rt_worker;

struct rt_scheduler {
    /* Constant after create. */
    rt_allocator *allocator;
    const rt_clock *clock;
    rt_scheduler_hooks hooks;
    rt_worker *workers;
    uint32_t worker_count;
    uint32_t max_active;
    uint32_t output_capacity_bytes;
    uint32_t batch_limit; /* of every worker: fewer when outputs are large */
    uint64_t queue_limit;
    pid_t pid;
    uint32_t started_threads; /* as far as create came */

    /* A task in a batch is given back when its priority is below this. Read between tasks, relaxed; written
     * under the lock, and only when it changes, so that the line stays in every worker's cache. */
    alignas(RT_LINE_BYTES) _Atomic uint32_t yield_above;

    /* Everything below is guarded by the lock. What every worker's turn needs comes first, on as few lines as
     * possible: each line costs a turn the way from the core that wrote it last. */
    alignas(RT_LINE_BYTES) pthread_mutex_t lock;
    uint64_t admitted, completed, failed;
    uint64_t cancelled;
    uint64_t dequeues, dequeued, turns;
    uint64_t wait_at_most; /* while armed: waiters are woken when no more tasks than this are in flight */
    bool wait_armed; /* somebody waits and was not woken since; each waiter arms again before it sleeps */
    bool held, abandoned, stopping;
    uint32_t holding, holding_peak; /* workers with a batch */
    uint32_t idle;                  /* workers asleep and not woken: the top entries of idle_stack */
    uint32_t waking;                /* woken, not yet running */
    rt_history history;
    rt_ready_queue ready;
    uint64_t rejected, queue_peak, wakeups;
    rt_worker **idle_stack;
    pthread_cond_t changed; /* for waiters */
};

/* In a child after fork there are no workers, and the lock may be held for ever. */
static inline bool rt_scheduler_is_forked(const rt_scheduler *self) { return self->pid != getpid(); }

/* Admitted and neither finalised nor cancelled. Under the lock. */
static inline uint64_t rt_scheduler_in_flight(const rt_scheduler *self) {
    return self->admitted - self->cancelled - self->completed - self->failed;
}

/* Nothing in flight, nothing to call back, all workers asleep. Under the lock. */
static inline bool rt_scheduler_is_idle(const rt_scheduler *self) {
    return self->idle == self->worker_count && rt_scheduler_in_flight(self) == 0;
}

/* Brings yield_above up to date after any change of the ready queue or of held. Under the lock. */
static inline void rt_scheduler_update_yield(rt_scheduler *self) {
    const uint32_t level = self->held || self->abandoned ? RT_YIELD_ALL : rt_ready_queue_top(&self->ready);
    if (atomic_load_explicit(&self->yield_above, memory_order_relaxed) != level) {
        atomic_store_explicit(&self->yield_above, level, memory_order_relaxed);
    }
}

/* Takes a sleeping worker off the idle stack when one is needed, or returns NULL. Under the lock; the caller
 * signals its `wake` after unlocking. While the queue is shorter than a batch one worker on its way is
 * enough: it takes what is there and wakes the next one if something is left. */
static inline rt_worker *rt_scheduler_pick_idle(rt_scheduler *self) {
    if (self->idle == 0 || self->ready.count == 0 || self->held ||
        self->holding + self->waking >= self->max_active ||
        (self->waking > 0 && self->ready.count < RT_SCHEDULER_MAX_BATCH)) {
        return NULL;
    }
    rt_worker *const worker = self->idle_stack[--self->idle];
    worker->woken = true;
    self->waking++;
    self->wakeups++;
    return worker;
}

static inline void rt_scheduler_signal(rt_worker *worker) {
    if (worker != NULL) {
        pthread_cond_signal(&worker->wake);
    }
}

/* A worker thread's main function; `argument` is its rt_worker. */
void *rt_worker_main(void *argument);

#endif
