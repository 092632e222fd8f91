/* Private to rt_scheduler*.c: what the scheduler and its workers share. */
#ifndef RT_SCHEDULER_PARTS_H
#define RT_SCHEDULER_PARTS_H

#include "rt_coroutine.h"
#include "rt_history.h"
#include "rt_overflow.h"
#include "rt_ready_queue.h"
#include "rt_scheduler.h"
#include "rt_sleepers.h"
#include "rt_stack.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#define RT_STACK_BYTES (256u * 1024u)

/* A value of yield_above that every held task yields to. */
#define RT_YIELD_ALL RT_SCHEDULER_LEVELS

/* Bits of rt_task.control. A task that neither is suspended nor is asked to end never has it changed between
 * its admission and its end: starting it costs no atomic operation. */
#define RT_TASK_ADMITTED 1u   /* set under the lock; cleared, with all others, by the worker at its end */
#define RT_TASK_CANCEL 2u     /* asked for; set under the lock, only while ADMITTED */
#define RT_TASK_ACTIVATED 4u  /* has started and does not run: task->activation says how to go on */
#define RT_TASK_ASLEEP 8u     /* among the sleepers; under the lock */
#define RT_TASK_WAITING 16u   /* its worker waits with it; under the lock */
#define RT_TASK_UNSTARTED 32u /* ended without its runner having started */

static inline uint8_t rt_task_control(const rt_task *task) {
    return __atomic_load_n(&task->control, __ATOMIC_RELAXED);
}
static inline void rt_task_set(rt_task *task, uint8_t bits) {
    __atomic_fetch_or(&task->control, bits, __ATOMIC_RELAXED);
}
static inline void rt_task_clear(rt_task *task, uint8_t bits) {
    __atomic_fetch_and(&task->control, (uint8_t)~bits, __ATOMIC_RELAXED);
}

typedef struct rt_worker rt_worker;

/* A started task that has not ended: on the stack on which its runner runs, below the runner. */
typedef struct rt_activation {
    rt_task_run run; /* first: a runner's rt_task_run is its rt_activation */
    rt_scheduler *scheduler;
    rt_worker *worker; /* on which it runs now; changes while it is suspended */
    rt_task *task;
    /* From here on valid while ACTIVATED only: what the task's own fields hold while it runs. */
    uint64_t admitted_ns, dequeued_ns, started_ns;
    rt_coroutine *coroutine;
    bool yields; /* suspended by rt_task_yield */
    rt_sleeper sleeper;
} rt_activation;

static inline rt_activation *rt_activation_of(rt_sleeper *sleeper) {
    return (rt_activation *)(void *)((char *)sleeper - offsetof(rt_activation, sleeper));
}

/* Tasks that a worker took under one lock: tasks[0 .. ran-1] have ended; parked[0 .. parked_count-1] were
 * suspended since; the others are in groups[left ..]. */
typedef struct rt_batch {
    uint32_t count;
    uint32_t ran;
    uint32_t parked_count;
    uint32_t slices; /* runs of a task up to its end or suspension */
    uint32_t group_count;
    uint32_t left;
    bool suspended;        /* a task in it was suspended or resumed */
    bool overran;          /* it took far longer than planned: what is left is given back */
    uint32_t parked_above; /* highest priority of a parked task that yielded: lower ones go after it */
    uint64_t dequeued_ns;
    rt_task *tasks[RT_SCHEDULER_MAX_BATCH];
    rt_task *parked[RT_SCHEDULER_MAX_BATCH];
    rt_task_group groups[RT_SCHEDULER_MAX_BATCH];
} rt_batch;

struct rt_worker {
    /* Twice the slices started, less one while a runner runs. Written by this worker alone, once before and
     * once after a slice; read by whoever needs the exact queue length. On a line of its own. */
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
    uint32_t turns_to_sample;         /* until the next turn whose lock is timed */
    uint64_t clamped_intervals;
    void *stack;
    size_t stack_bytes;
    rt_histogram *histograms;                /* RT_SCHEDULER_STAGES of them */
    uint32_t spares[RT_SCHEDULER_MAX_BATCH]; /* history entries: the i-th receives the i-th task of a batch */
    rt_batch batches[2];
    uint32_t current; /* the batch that is being run; the other was run before */
    /* With pooled stacks. A loop that goes on elsewhere leaves through here what the next one must know. */
    rt_stack_cache stacks;
    rt_coroutine thread_coroutine; /* of the thread's own stack */
    rt_coroutine *coroutine;       /* that runs now */
    rt_coroutine *left;            /* the loop that left for a task to be resumed; its stack is free */
    rt_activation *leaving;        /* the task that was just suspended */
    rt_activation *running;        /* whose runner runs now, or NULL: whom an overflow belongs to */
    rt_overflow_thread overflow;
};

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
    uint64_t max_suspended; /* UINT64_MAX: no limit */
    uint32_t sample_every;
    rt_histogram *lock_histograms; /* by site: wait, then hold; NULL without sampling */
    rt_stack_pool *stacks;         /* NULL: tasks cannot be suspended */
    pid_t pid;
    uint32_t started_threads; /* as far as create came */
    bool watches_overflow;

    /* A task in a batch is given back when its priority is below yield_above. Read between tasks, relaxed;
     * written under the lock, and only when it changes, so that the line stays in every worker's cache. */
    alignas(RT_LINE_BYTES) _Atomic uint32_t yield_above;
    _Atomic bool abandoned;

    /* Submissions until the next whose lock is timed, by site; a lost update does no harm. */
    alignas(RT_LINE_BYTES) _Atomic uint32_t until_sample[RT_SCHEDULER_SITES];
    /* Tasks suspended now, and most at once. Touched by suspensions only. */
    alignas(RT_LINE_BYTES) _Atomic uint64_t suspended;
    _Atomic uint64_t suspended_peak;

    /* Everything below is guarded by the lock. What every worker's turn needs comes first, on as few lines as
     * possible: each line costs a turn the way from the core that wrote it last. */
    alignas(RT_LINE_BYTES) pthread_mutex_t lock;
    uint64_t admitted, completed, failed;
    uint64_t cancelled; /* ended as cancelled, in a worker's hands */
    uint64_t dequeues, dequeued, turns;
    uint64_t wait_at_most; /* while armed: waiters are woken when no more tasks than this are in flight */
    bool wait_armed; /* somebody waits and was not woken since; each waiter arms again before it sleeps */
    bool held, stopping;
    uint32_t holding, holding_peak; /* workers with a batch */
    uint32_t idle;                  /* workers asleep and not woken: the top entries of idle_stack */
    uint32_t waking;                /* woken, not yet running */
    uint64_t woken_ns;              /* when one was woken last */
    uint64_t changed_ns;            /* last moment up to which the times below are added up */
    uint64_t idle_ns, idle_while_queued_ns;
    unsigned __int128 in_flight_ns; /* tasks in flight, integrated over time */
    uint64_t next_wake_ns; /* when the first sleeper is due; UINT64_MAX: none */
    uint64_t mean_run_ns;  /* of a task, by the worker that had the lock last */
    rt_history history;
    rt_ready_queue ready;
    uint64_t taken_back; /* by abandon: cancelled without a worker */
    uint64_t timed_out;
    uint64_t parked;   /* suspensions that a turn has put to sleep or queued again, ever */
    uint64_t requeued; /* of those, queued again, ever */
    uint64_t yields;
    uint64_t rejected, queue_peak, wakeups;
    uint64_t first_ns; /* of the first admission */
    uint64_t acquisitions[RT_SCHEDULER_SITES];
    bool contention_ended; /* nothing is added any more */
    rt_sleepers sleepers;
    rt_worker *timekeeper;  /* the idle worker that wakes when the first sleeper is due; NULL: none */
    uint64_t timekeeper_ns; /* when it will wake; UINT64_MAX: only when signalled */
    rt_worker **idle_stack;
    pthread_cond_t changed; /* for waiters */
};

/* In a child after fork there are no workers, and the lock may be held for ever. */
static inline bool rt_scheduler_is_forked(const rt_scheduler *self) { return self->pid != getpid(); }

static inline bool rt_scheduler_is_abandoned(const rt_scheduler *self) {
    return atomic_load_explicit(&self->abandoned, memory_order_relaxed);
}

/* ---- under the lock ---- */

/* Ended in a worker's hands, and finalised. */
static inline uint64_t rt_scheduler_finalised(const rt_scheduler *self) {
    return self->completed + self->failed + self->cancelled + self->timed_out;
}

/* Admitted and neither finalised nor taken back. */
static inline uint64_t rt_scheduler_in_flight(const rt_scheduler *self) {
    return self->admitted - self->taken_back - rt_scheduler_finalised(self);
}

/* Nothing in flight, nothing to call back, all workers asleep. */
static inline bool rt_scheduler_is_idle(const rt_scheduler *self) {
    return self->idle == self->worker_count && rt_scheduler_in_flight(self) == 0;
}

/* Whether workers may take a batch. After abandon only started tasks are queued: they must come to an end. */
static inline bool rt_scheduler_may_take(const rt_scheduler *self) {
    return self->ready.count > 0 && (!self->held || rt_scheduler_is_abandoned(self));
}

/* Brings yield_above up to date after any change of the ready queue or of held. */
static inline void rt_scheduler_update_yield(rt_scheduler *self) {
    const bool all = self->held || rt_scheduler_is_abandoned(self);
    const uint32_t level = all ? RT_YIELD_ALL : rt_ready_queue_top(&self->ready);
    if (atomic_load_explicit(&self->yield_above, memory_order_relaxed) != level) {
        atomic_store_explicit(&self->yield_above, level, memory_order_relaxed);
    }
}

/* Adds up what the workers' idle time, and the tasks in flight, were until now. Before any of them, or the queue,
 * changes. */
static inline void rt_scheduler_add_idle(rt_scheduler *self, uint64_t now_ns) {
    const uint64_t passed_ns = now_ns > self->changed_ns ? now_ns - self->changed_ns : 0;
    self->in_flight_ns += (unsigned __int128)passed_ns * rt_scheduler_in_flight(self);
    const uint64_t idle_ns = passed_ns * (self->idle + self->waking);
    self->changed_ns += passed_ns;
    self->idle_ns += idle_ns;
    self->idle_while_queued_ns += self->ready.count > 0 && !self->held ? idle_ns : 0;
}

/* It does other work from now on. */
static inline void rt_scheduler_free_timekeeper(rt_scheduler *self, const rt_worker *worker) {
    if (self->timekeeper == worker) {
        self->timekeeper = NULL;
        self->timekeeper_ns = UINT64_MAX;
    }
}

/* A woken worker that does not run by then has no core: another one may find one. */
#define RT_WAKE_OVERDUE_NS UINT64_C(300000)

/* Takes a sleeping worker off the idle stack when one is needed, or returns NULL. The caller signals its
 * `wake` after unlocking. While the queue is shorter than a batch one worker on its way is enough: it takes
 * what is there and wakes the next one if something is left. */
static inline rt_worker *rt_scheduler_pick_idle(rt_scheduler *self, uint64_t now_ns) {
    if (self->idle == 0 || !rt_scheduler_may_take(self) || self->holding + self->waking >= self->max_active ||
        (self->waking > 0 && self->ready.count < RT_SCHEDULER_MAX_BATCH &&
         now_ns < self->woken_ns + RT_WAKE_OVERDUE_NS)) {
        return NULL;
    }
    rt_worker *const worker = self->idle_stack[--self->idle];
    rt_scheduler_free_timekeeper(self, worker);
    worker->woken = true;
    self->woken_ns = now_ns;
    self->waking++;
    self->wakeups++;
    return worker;
}

/* rt_scheduler_submit.c: the exact length of the queue, and its highest value; after tasks were queued. */
uint64_t rt_scheduler_queued(const rt_scheduler *self);
void rt_scheduler_raise_peak(rt_scheduler *self);

/* rt_scheduler_sleep.c */
void rt_scheduler_park_batch(rt_scheduler *self, rt_batch *batch, uint64_t now_ns);
void rt_scheduler_wake_due(rt_scheduler *self, uint64_t now_ns);
void rt_scheduler_wake_task(rt_scheduler *self,
                            rt_task *task);                  /* that is ASLEEP or WAITING, for its cancel */
void rt_scheduler_wake_all(rt_scheduler *self);              /* for abandon */
rt_worker *rt_scheduler_pick_timekeeper(rt_scheduler *self); /* whom to signal for an earlier sleeper */

/* rt_scheduler_worker.c */
void rt_worker_finalise(rt_worker *self, rt_batch *batch,
                        uint64_t now_ns);               /* and give back what was not run */
void rt_scheduler_take_back_queued(rt_scheduler *self); /* abandoned is set */
/* Whether somebody waits for what was reached; if so the caller wakes them through `changed`. */
bool rt_scheduler_reaches_waiter(rt_scheduler *self);

/* rt_scheduler_control.c: nothing starts any more, all started tasks are asked to end, all workers wake. */
void rt_scheduler_abandon_locked(rt_scheduler *self);

/* ---- the lock, timed now and then ---- */

typedef struct rt_lock_hold {
    rt_scheduler_site site;
    bool timed;
    uint64_t asked_ns, taken_ns;
} rt_lock_hold;

/* rt_scheduler_contention.c */
rt_status rt_scheduler_create_contention(rt_scheduler *self);
void rt_scheduler_record_hold(rt_scheduler *self, rt_lock_hold *hold);
rt_lock_hold rt_scheduler_lock_timed(rt_scheduler *self, rt_scheduler_site site);

static inline bool rt_scheduler_times_now(const rt_scheduler *self, _Atomic uint32_t *until) {
    if (self->sample_every == 0) {
        return false;
    }
    const uint32_t left = atomic_load_explicit(until, memory_order_relaxed);
    atomic_store_explicit(until, left == 0 ? self->sample_every - 1 : left - 1, memory_order_relaxed);
    return left == 0;
}

static inline rt_lock_hold rt_scheduler_lock(rt_scheduler *self, rt_scheduler_site site) {
    if (rt_scheduler_times_now(self, &self->until_sample[site])) {
        return rt_scheduler_lock_timed(self, site);
    }
    pthread_mutex_lock(&self->lock);
    self->acquisitions[site] += !self->contention_ended;
    return (rt_lock_hold){.site = site, .timed = false};
}

/* A worker counts its own turns, so that it touches no line of others before it has the lock. */
static inline rt_lock_hold rt_scheduler_lock_turn(rt_worker *worker) {
    rt_scheduler *const self = worker->scheduler;
    if (self->sample_every != 0 && worker->turns_to_sample-- == 0) {
        worker->turns_to_sample = self->sample_every - 1;
        return rt_scheduler_lock_timed(self, RT_SCHEDULER_TURN);
    }
    pthread_mutex_lock(&self->lock);
    self->acquisitions[RT_SCHEDULER_TURN] += !self->contention_ended;
    return (rt_lock_hold){.site = RT_SCHEDULER_TURN, .timed = false};
}

/* Ends the timed part of a hold: before unlocking, and before a wait that gives the lock away. */
static inline void rt_scheduler_end_hold(rt_scheduler *self, rt_lock_hold *hold) {
    if (hold->timed) {
        rt_scheduler_record_hold(self, hold);
    }
}

static inline void rt_scheduler_unlock(rt_scheduler *self, rt_lock_hold *hold) {
    rt_scheduler_end_hold(self, hold);
    pthread_mutex_unlock(&self->lock);
}

/* ---- without the lock ---- */

static inline void rt_scheduler_signal(rt_worker *worker) {
    if (worker != NULL) {
        pthread_cond_signal(&worker->wake);
    }
}

/* Deadline for waiting on a condition until the scheduler's clock shows wake_ns. */
struct timespec rt_scheduler_real_deadline(const rt_scheduler *self, uint64_t wake_ns);

/* rt_scheduler_settle.c: histograms, callbacks and release of a finalised batch. */
void rt_worker_settle(rt_worker *self, const rt_batch *batch, uint64_t finalised_ns);

/* rt_scheduler_run.c: runs what is left of the current batch. Returns the worker on which the caller is then:
 * a task that was suspended brings the loop below it to the worker that resumed it. */
rt_worker *rt_worker_run_batch(rt_worker *self);

/* The runner of `task` has returned `status`: the task ends. */
void rt_worker_end_started(rt_worker *self, rt_task *task, uint64_t dequeued_ns, rt_status status,
                           uint32_t output_bytes);

/* rt_scheduler_sleep.c: the worker waits with its task until activation->sleeper.wake_ns or its cancel. */
void rt_worker_wait_with(rt_worker *self, rt_activation *activation);

/* rt_scheduler_suspend.c: leaves this loop for a suspended task. */
_Noreturn void rt_worker_resume(rt_worker *self, rt_task *task);
/* Lets the task wait on its stack while a new loop goes on; false: no stack could be had. */
bool rt_worker_suspend(rt_worker *self, rt_activation *activation);
/* The first stack of a worker. RT_NO_MEMORY: it has none. */
rt_status rt_worker_prepare_stack(rt_worker *self);
/* The loop of a worker with pooled stacks, from its thread's own stack. */
void rt_worker_loop_pooled(rt_worker *self);

/* rt_scheduler_worker.c: turns until the scheduler stops; returns the worker on which it ended. */
rt_worker *rt_worker_loop(rt_worker *self);
/* A worker thread's main function; `argument` is its rt_worker. */
void *rt_worker_main(void *argument);

#endif
