/* Suspending a task and going on with it, with pooled stacks.
 *
 * A worker's loop runs on a pooled stack, and runners run on it as ordinary calls. A task that is suspended
 * keeps that stack, with the loop's frames below its own; the worker goes on with a new loop on another stack.
 * To resume the task a worker leaves its own loop for good, since nothing on that stack is needed any more, and
 * the old loop goes on as this worker's when the runner returns. Whoever arrives on a stack learns from the
 * message of the switch which worker it is now, and gives the stack that was left back. */
#include "rt_scheduler_parts.h"

#include <stdlib.h>

static void loop_entry(void *argument, void *message);

static void arrive(rt_worker *self) {
    rt_activation *const leaving = self->leaving;
    if (leaving != NULL) { /* its registers are saved: from now on it may be resumed */
        rt_batch *const batch = &self->batches[self->current];
        const uint32_t priority = leaving->yields ? leaving->task->priority : 0;
        batch->parked[batch->parked_count++] = leaving->task;
        batch->parked_above = priority > batch->parked_above ? priority : batch->parked_above;
        self->leaving = NULL;
    }
    if (self->left != NULL) {
        rt_stack_cache_give(&self->stacks, self->scheduler->stacks, rt_coroutine_drop(self->left));
        self->left = NULL;
    }
}

static void raise_peak(rt_scheduler *self, uint64_t now) {
    uint64_t peak = atomic_load_explicit(&self->suspended_peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(&self->suspended_peak, &peak, now,
                                                                memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* A place among the suspended and a stack for the loop to go on; NULL: there is not both. */
static rt_stack *find_stack(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    if (scheduler->stacks == NULL) {
        return NULL;
    }
    const uint64_t now = atomic_fetch_add_explicit(&scheduler->suspended, 1, memory_order_relaxed) + 1;
    rt_stack *const stack =
        now <= scheduler->max_suspended ? rt_stack_cache_take(&self->stacks, scheduler->stacks) : NULL;
    if (stack == NULL) {
        atomic_fetch_sub_explicit(&scheduler->suspended, 1, memory_order_relaxed);
        return NULL;
    }
    raise_peak(scheduler, now);
    return stack;
}

bool rt_worker_suspend(rt_worker *self, rt_activation *activation) {
    rt_task *const task = activation->task;
    rt_stack *const stack = find_stack(self);
    if (stack == NULL) {
        return false;
    }
    activation->coroutine = self->coroutine;
    activation->admitted_ns = task->admitted_ns;
    activation->started_ns = task->started_ns;
    task->activation = activation;
    rt_task_set(task, RT_TASK_ACTIVATED);
    self->batches[self->current].suspended = true;
    self->running = NULL;
    self->leaving = activation;
    self->coroutine = rt_coroutine_make(stack, loop_entry, NULL);
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    atomic_store_explicit(&self->steps, steps + 1, memory_order_relaxed);
    arrive(rt_coroutine_switch(activation->coroutine, self->coroutine, self));
    return true;
}

void rt_worker_resume(rt_worker *self, rt_task *task) {
    rt_scheduler *const scheduler = self->scheduler;
    rt_activation *const activation = task->activation;
    rt_batch *const batch = &self->batches[self->current];
    task->admitted_ns = activation->admitted_ns;
    task->started_ns = activation->started_ns;
    rt_task_clear(task, RT_TASK_ACTIVATED);
    activation->worker = self;
    activation->run.worker = self->index;
    activation->run.output = rt_history_entry_of(&scheduler->history, self->spares[batch->ran])->output;
    activation->run.output_bytes = 0;
    batch->suspended = true;
    atomic_fetch_sub_explicit(&scheduler->suspended, 1, memory_order_relaxed);
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    atomic_store_explicit(&self->steps, steps + 1, memory_order_relaxed);
    self->running = activation;
    self->left = self->coroutine;
    self->coroutine = activation->coroutine;
    rt_coroutine_leave(self->left, self->coroutine, self);
}

/* A new loop: after a suspension, at the start of the thread, or after an overflow. It goes on with the batch
 * that the one before had begun, and ends, perhaps as another worker's, on that one's thread. */
static void loop_entry(void *argument, void *message) {
    rt_worker *self = message;
    (void)argument;
    arrive(self);
    self = rt_worker_loop(rt_worker_run_batch(self));
    self->left = self->coroutine;
    self->coroutine = NULL;
    rt_coroutine_leave(self->left, &self->thread_coroutine, self);
}

/* In the signal handler: what runs on the stack that overflowed is given up. */
static void recover(void *context, rt_stack *overflown) {
    rt_worker *const self = context;
    (void)overflown;
    if (self->running == NULL) {
        abort(); /* a hook of the caller's and no runner: there is no task to blame it on */
    }
    self->left = self->coroutine;
    rt_coroutine_leave(self->left, &self->thread_coroutine, self);
}

/* The task whose runner overflowed its stack fails with that name. What the runner held stays held. */
static void end_overflown(rt_worker *self) {
    const rt_activation *const activation = self->running;
    rt_worker_end_started(self, activation->task, activation->dequeued_ns, RT_STACK_OVERFLOW, 0);
}

rt_status rt_worker_prepare_stack(rt_worker *self) {
    rt_stack *const stack = rt_stack_pool_take(self->scheduler->stacks);
    if (stack == NULL) {
        return RT_NO_MEMORY;
    }
    self->coroutine = rt_coroutine_make(stack, loop_entry, NULL);
    return RT_OK;
}

void rt_worker_loop_pooled(rt_worker *self) {
    rt_coroutine_adopt(&self->thread_coroutine);
    self->overflow = (rt_overflow_thread){.allocator = self->scheduler->allocator,
                                          .pool = self->scheduler->stacks,
                                          .recover = recover,
                                          .context = self};
    /* Without a signal stack, for want of memory, an overflow ends the process as it would without us. */
    const bool watched = rt_overflow_enter_thread(&self->overflow) == RT_OK;
    while (self->coroutine != NULL) {
        rt_coroutine_switch(&self->thread_coroutine, self->coroutine, self);
        const bool overflown = self->running != NULL;
        if (overflown) {
            end_overflown(self);
        }
        arrive(self);
        if (overflown) { /* the stack just given back is there at least */
            self->coroutine = rt_coroutine_make(rt_stack_cache_take(&self->stacks, self->scheduler->stacks),
                                                loop_entry, NULL);
        }
    }
    if (watched) {
        rt_overflow_leave_thread(&self->overflow);
    }
    rt_stack_cache_empty(&self->stacks, self->scheduler->stacks);
}
