/* Runs tasks on N worker threads: highest priority first, then in order of submission.
 *
 * One mutex guards the ready queue, the sleepers, the counts and the history. A worker takes a batch of tasks
 * under one lock and, in the same critical section, finalises the batch that it ran before. A task in a
 * worker's batch still counts as queued until its runner starts. A batch is cut to some 100 us of work by
 * what tasks took lately, and given back when it takes four times as long. A runner that blocks (not through
 * rt_task_sleep or rt_task_block) keeps the rest of its batch waiting until it returns, so tasks must not wait
 * for each other.
 *
 * Life of a task. It ends exactly once, whatever races:
 *   completed   its runner returned RT_OK
 *   failed      its runner returned anything else
 *   cancelled   rt_scheduler_cancel met it before its runner started, or its runner returned RT_CANCELLED; or
 *               rt_scheduler_abandon took it back before its runner started
 *   timed out   its deadline had passed when a worker came to it or when its runner returned, or its runner
 *               returned RT_TIMED_OUT
 * A task that waits in the queue learns of its cancel or deadline when a worker comes to it; one that sleeps
 * is woken for it at once; one that runs sees it at its next rt_task_yield, rt_task_sleep or rt_task_poll.
 *
 * A task whose sleep is over goes before all others of its priority, one that yields behind them.
 *
 * With stack_bytes, a runner can be suspended: the worker leaves the task's stack alone and goes on with other
 * tasks on another one. Until then tasks share the stack of their worker's loop: a task owns a stack from its
 * first suspension to its end, and a queued task owns none. A runner that overflows such a stack ends its task as
 * failed, with RT_STACK_OVERFLOW; what it held (a mutex, memory) stays held. Not so an overflow inside a call of
 * the scheduler or of the allocator, whose locks would stay held, or in a hook: keep a page of stack for them.
 *
 * Its six timestamps (nanoseconds of the scheduler's clock):
 *   submitted   set by the caller before rt_scheduler_submit_many; outside any lock
 *   admitted    under the lock; one read for all tasks of a submit call
 *   dequeued    under the lock; one read for all tasks of a batch, equal to `finalised` of the batch before
 *   started     just before its runner; outside any lock; one read a task
 *   ended       just after its runner; outside any lock; one read a task
 *   finalised   under the lock; one read for all tasks of a batch: from here on its result is visible
 * dequeued and started are those of the first time; what a task is suspended for is part of its execution. A
 * task whose runner never started has one reading for started and ended, when a worker came to it, and is in
 * no histogram of these.
 * queue = submitted -> started, execution = started -> ended, finalisation = ended -> finalised, and
 * end_to_end is their sum, exactly and task by task. An interval whose end lies before its start is 0 and
 * counted in clamped_intervals. */
#ifndef RT_SCHEDULER_H
#define RT_SCHEDULER_H

#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_histogram.h"
#include "rt_status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_SCHEDULER_MAX_WORKERS 1024u
#define RT_SCHEDULER_LEVELS 256u      /* priorities 0 .. 255; 255 runs first */
#define RT_SCHEDULER_MAX_BATCH 32u    /* tasks that a worker takes at once */
#define RT_SCHEDULER_SAMPLE_EVERY 64u /* each worker times the spans of every 64th task that it runs */
#define RT_SCHEDULER_FOREVER UINT64_MAX
#define RT_SCHEDULER_MIN_STACK_BYTES 16384u
#define RT_SCHEDULER_MAX_STACK_BYTES (8u << 20)

typedef struct rt_scheduler rt_scheduler;

/* A task: the caller's memory, the scheduler's while it is admitted and not yet released. One cache line. */
typedef struct rt_task {
    struct rt_task *next;  /* private to the scheduler */
    uint64_t id;           /* set by the caller */
    uint64_t submitted_ns; /* set by the caller: now, or the intended time in open loop */
    union {
        uint64_t admitted_ns;
        struct rt_activation *activation; /* private, while suspended */
    };
    union {
        uint64_t dequeued_ns;
        struct rt_task *next_group; /* private, while queued: see rt_ready_queue */
    };
    union {
        uint64_t started_ns;
        uint64_t group_count; /* private, while queued */
    };
    union {
        uint64_t ended_ns;
        uint64_t deadline_ns; /* set by the caller, always: of the scheduler's clock; 0: none */
    };
    uint32_t output_bytes; /* what the runner wrote */
    uint8_t priority;      /* set by the caller */
    uint8_t status;        /* an rt_status: how the task ended */
    uint8_t control;       /* private: where the task is, and whether its cancel was asked for */
    uint8_t reserved;
} rt_task;

/* What a runner gets, and where it writes. */
typedef struct rt_task_run {
    uint64_t task_id;
    uint32_t worker; /* 0 .. workers-1: index of per-worker state of the runner */
    uint32_t output_capacity_bytes;
    uint8_t *output;       /* this task's own output buffer */
    uint32_t output_bytes; /* set by the runner; 0 on entry; more than the capacity is a failure */
    bool sampled;          /* time the spans of this task */
} rt_task_run;

/* For the runner of `run`, on its own thread and stack. All return RT_OK, or RT_CANCELLED or
 * RT_TIMED_OUT when the task should end: the runner then returns that status soon. After yield and sleep the
 * runner may be on another thread, run->worker and run->output may be others, and what it had written to
 * run->output is lost: it reads both again, and keeps no address of a thread-local (errno is one) across the
 * call. No lock may be held across it. */

/* Lets every task of its priority or a higher one that waits now go first. Without stack_bytes, or with
 * max_suspended tasks suspended, it only polls. */
rt_status rt_task_yield(rt_task_run *run);
/* Waits; the worker runs other tasks meanwhile. Without stack_bytes, or with max_suspended tasks suspended,
 * the worker waits with it. Ends early when the task is cancelled or its deadline passes. */
rt_status rt_task_sleep(rt_task_run *run, uint64_t duration_ns);
/* As rt_task_sleep, but the worker waits with the task in any case; run->worker and run->output stay. */
rt_status rt_task_block(rt_task_run *run, uint64_t duration_ns);
/* Looks whether the task should end; no lock, some 30 ns with a deadline and less without. */
rt_status rt_task_poll(rt_task_run *run);

/* A finished task as the history keeps it. */
typedef struct rt_task_record {
    uint64_t task_id;
    uint64_t submitted_ns, admitted_ns, dequeued_ns, started_ns, ended_ns, finalised_ns;
    uint32_t output_bytes;
    uint16_t worker;
    uint8_t priority;
    uint8_t status;
} rt_task_record;

/* The caller's functions. They run on worker threads, never while the lock is held. */
typedef struct rt_scheduler_hooks {
    void *context;
    /* The task's body. What its status counts as is stated above. */
    rt_status (*run)(void *context, rt_task_run *run);
    /* Completion callback, once for each admitted task however it ended (task->status), after it was
     * finalised, except for those that abandon takes back; `worker` is UINT32_MAX when its runner never
     * started. May be NULL. */
    void (*finished)(void *context, const rt_task *task, uint64_t finalised_ns, uint32_t worker);
    /* These tasks are the caller's again (once a batch, after `finished` of each); may be NULL. */
    void (*released)(void *context, rt_task *const *tasks, size_t count);
} rt_scheduler_hooks;

/* Starts a thread as pthread_create does; tests pass one that fails. */
typedef int (*rt_thread_start)(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                               void *argument);

typedef struct rt_scheduler_options {
    rt_allocator *allocator;      /* outlives the scheduler */
    const rt_clock *clock;        /* outlives the scheduler; NULL: rt_clock_machine */
    rt_thread_start start_thread; /* NULL: pthread_create */
    rt_scheduler_hooks hooks;
    uint32_t workers;               /* 1 .. RT_SCHEDULER_MAX_WORKERS */
    uint32_t max_active;            /* >= 1; workers that may run tasks at the same time */
    uint64_t queue_limit;           /* >= 1; tasks that wait for a worker; beyond it tasks are rejected */
    uint64_t history_limit_tasks;   /* finished tasks kept; 0 keeps none */
    uint64_t history_limit_bytes;   /* of rt_task_record + output, each; 0 keeps none */
    uint32_t output_capacity_bytes; /* room for each task's output */
    uint32_t stack_bytes;   /* of each pooled stack, from RT_SCHEDULER_MIN_STACK_BYTES; 0: no suspending */
    uint32_t max_suspended; /* tasks suspended at the same time; 0: no limit */
    uint32_t contention_sample_every; /* of each call site, every so many acquisitions are timed; 0: none */
} rt_scheduler_options;

/* Starts the workers; they sleep until there is work. RT_INVALID: an option is out of range (`why` names it).
 * RT_NO_MEMORY, RT_NO_THREAD: all threads that did start have ended and nothing is kept.
 * *out is NULL unless RT_OK. */
rt_status rt_scheduler_create(const rt_scheduler_options *options, rt_scheduler **out, rt_message *why);

/* Ends: tasks that have not started are cancelled, running ones finish, threads are joined, memory is
 * given back. No other call may be in progress. In a child after fork it only frees. NULL is allowed. */
void rt_scheduler_destroy(rt_scheduler *self);

/* Hands over `count` tasks in this order under one lock and sets *admitted (may be NULL) to how many were
 * admitted: the first *admitted of them are the scheduler's until released.
 * RT_FULL: queue_limit was reached; the others were counted as rejected and are the caller's.
 * RT_STOPPED: after rt_scheduler_abandon; RT_FORKED. Nothing was admitted or counted. */
rt_status rt_scheduler_submit_many(rt_scheduler *self, rt_task *const *tasks, size_t count, size_t *admitted);
rt_status rt_scheduler_submit(rt_scheduler *self, rt_task *task);

/* Waits until at most `in_flight` admitted tasks are not finalised. RT_TIMED_OUT after timeout_ns of
 * CLOCK_MONOTONIC (RT_SCHEDULER_FOREVER: no deadline). RT_FORKED. */
rt_status rt_scheduler_wait_in_flight(rt_scheduler *self, uint64_t in_flight, uint64_t timeout_ns);

/* Waits until every admitted task is finalised, called back and released, and all workers are idle; from
 * then until the next submission histograms, history and the hooks' own data may be read.
 * RT_TIMED_OUT, RT_FORKED as above. */
rt_status rt_scheduler_wait_idle(rt_scheduler *self, uint64_t timeout_ns);

/* Workers take no new batch while held; a batch being run is given back after its current task. */
rt_status rt_scheduler_hold(rt_scheduler *self);
rt_status rt_scheduler_release(rt_scheduler *self);

/* Asks the task `id` at `task` to end as cancelled. RT_NOT_FOUND: it has ended already, or was never
 * admitted. RT_OK does not promise that it ends as cancelled: a runner may return before it looks. The memory
 * at `task` must be readable, and nobody may be filling it in for another submission at the same time.
 * RT_FORKED. */
rt_status rt_scheduler_cancel(rt_scheduler *self, rt_task *task, uint64_t id);

/* Takes back every task that has not started, counts it as cancelled, and admits nothing any more. Started
 * tasks are asked to end as cancelled, sleeping ones are woken for it. After rt_scheduler_wait_idle the tasks
 * taken back are the caller's; no hook is called for them. */
rt_status rt_scheduler_abandon(rt_scheduler *self);

/* Counts at one moment: submitted = admitted + rejected and
 * admitted = completed + failed + cancelled + timed_out + queued + active + suspended + ended, where `ended`
 * tasks have left their runner and wait for their worker to finalise them, put them to sleep or queue them
 * again. */
typedef struct rt_scheduler_counts {
    uint64_t submitted, admitted, rejected, completed, failed, cancelled, timed_out;
    uint64_t queued;     /* admitted or yielded, and waiting for a worker; batches held by workers included */
    uint64_t queue_peak; /* highest `queued` ever: exact, not sampled */
    uint64_t ended;
    uint64_t suspended;       /* asleep on a stack of their own */
    uint64_t suspended_peak;  /* most tasks that had a stack of their own and did not run, yielded included */
    uint64_t suspensions;     /* times that a task was suspended, yields included */
    uint64_t yields;          /* calls of rt_task_yield that suspended */
    uint32_t active;          /* tasks whose runner is running */
    uint32_t active_peak;     /* most workers that held tasks at the same time */
    uint32_t idle;            /* workers asleep */
    uint64_t dequeues;        /* batches taken */
    uint64_t dequeued;        /* tasks in them; a task given back and taken again counts twice */
    uint64_t wakeups;         /* workers woken to take a batch */
    uint64_t turns;           /* passes of all worker loops: stands still while there is nothing to do */
    double in_flight_s;       /* tasks admitted and not ended, integrated over time: tasks x seconds ... */
    uint64_t in_flight_at_ns; /* ... up to this time of the clock, the last at which anything changed */
    uint64_t clamped_intervals;                                 /* complete once idle */
    uint64_t retained_tasks, retained_bytes, history_oversized; /* oversized: not kept, too large alone */
} rt_scheduler_counts;

/* A snapshot taken under the lock; cheap enough to poll at 1 kHz. In a child after fork: as of the fork. */
void rt_scheduler_count(rt_scheduler *self, rt_scheduler_counts *out);

typedef enum rt_scheduler_stage {
    RT_SCHEDULER_QUEUE,           /* every task whose runner started */
    RT_SCHEDULER_EXECUTION,       /* the same tasks */
    RT_SCHEDULER_FINALISATION,    /* the same tasks */
    RT_SCHEDULER_END_TO_END,      /* the same tasks */
    RT_SCHEDULER_CALLBACK,        /* one in RT_SCHEDULER_SAMPLE_EVERY: the `finished` hook */
    RT_SCHEDULER_HISTORY_PRUNING, /* one in RT_SCHEDULER_SAMPLE_EVERY: record into the history and prune it */
    RT_SCHEDULER_STAGES
} rt_scheduler_stage;

/* Adds the histograms of all workers to `into`. Only while idle. */
void rt_scheduler_merge(const rt_scheduler *self, rt_scheduler_stage stage, rt_histogram *into);

/* Copies the index-th retained task (0 is the oldest) and the first capacity_bytes of its output (may be
 * NULL). RT_NOT_FOUND: index is beyond the retained tasks. RT_FORKED. */
rt_status rt_scheduler_history(rt_scheduler *self, uint64_t index, rt_task_record *record, uint8_t *output,
                               size_t capacity_bytes);

typedef enum rt_scheduler_site {
    RT_SCHEDULER_SUBMIT,  /* rt_scheduler_submit and _submit_many */
    RT_SCHEDULER_TURN,    /* a worker's turn: finalise a batch and take the next */
    RT_SCHEDULER_CONTROL, /* everything else: wait, hold, cancel, count, sleep on a worker */
    RT_SCHEDULER_SITES
} rt_scheduler_site;

/* Who took the lock how often, how long it was waited for and held, and what the workers did with their time.
 * Histograms hold one acquisition in contention_sample_every and belong to the scheduler. */
typedef struct rt_scheduler_contention_report {
    uint64_t acquisitions[RT_SCHEDULER_SITES];
    const rt_histogram *wait[RT_SCHEDULER_SITES];
    const rt_histogram *hold[RT_SCHEDULER_SITES];
    uint32_t sample_every;
    uint64_t window_ns;            /* from the first admission to the last change of what is below */
    uint64_t idle_ns;              /* of all workers in the window: asleep, or woken and not yet running */
    uint64_t idle_while_queued_ns; /* the same while a task waited in the queue and workers were not held */
    uint64_t worker_cpu_ns;        /* CPU time of all worker threads since they started */
} rt_scheduler_contention_report;
/* Only while idle. The histograms stand still once the recording was ended. */
void rt_scheduler_contention(rt_scheduler *self, rt_scheduler_contention_report *out);
/* Whoever takes the lock from here on, to watch, is in no figure. */
void rt_scheduler_end_contention(rt_scheduler *self);
/* CPU time of one worker thread since it started, at any time; 0 when it cannot be read. */
uint64_t rt_scheduler_worker_cpu_ns(const rt_scheduler *self, uint32_t worker);

/* Memory by what it is for. Stacks: reserved is address space, committed the pages in RAM now. */
typedef struct rt_scheduler_bytes {
    uint64_t runtime_bytes;   /* the scheduler, its workers' state, without the parts below */
    uint64_t history_bytes;   /* records and output buffers, allocated whether filled or not */
    uint64_t histogram_bytes; /* allocated; only pages with counts are in RAM */
    uint64_t stack_reserved_bytes;
    uint64_t stack_committed_bytes;
} rt_scheduler_bytes;
/* Only while idle. */
void rt_scheduler_account(const rt_scheduler *self, rt_scheduler_bytes *out);

#endif
