/* Recognises the overflow of a pooled stack and hands control over instead of letting the process die.
 *
 * One handler of SIGSEGV a process, on an alternate signal stack a thread. A fault whose address lies in the
 * guard of the watched pool, on a thread that entered, calls the thread's recovery. Every other fault goes to
 * the handler that was there before, unchanged; without one the process dies of it as usual. */
#ifndef RT_OVERFLOW_H
#define RT_OVERFLOW_H

#include "rt_stack.h"
#include "rt_status.h"

/* Called in the signal handler, on the signal stack, with no signal blocked that was not blocked before. Must
 * not return: it leaves to another coroutine with rt_coroutine_leave, and who runs there gives the stack
 * back. What the faulting code held (a mutex, malloc's lock) stays held; what it allocated is lost. */
typedef void (*rt_overflow_recovery)(void *context, rt_stack *overflown);

typedef struct rt_overflow_thread {
    rt_allocator *allocator; /* of the signal stack */
    const rt_stack_pool *pool;
    rt_overflow_recovery recover; /* NULL: the next fault is not recovered */
    void *context;
    /* Private. */
    void *signal_stack;
    void *previous_stack;
    size_t previous_bytes;
    int previous_flags;
} rt_overflow_thread;

/* Installs the handler at the first call; each call needs one rt_overflow_unwatch. RT_FAILED: the kernel
 * refused (`why`, may be NULL, says why). From any thread. */
rt_status rt_overflow_watch(rt_message *why);
/* The last call puts the handler back that was there before, unless somebody replaced ours since. */
void rt_overflow_unwatch(void);

/* Gives the calling thread a signal stack and this recovery. `self` (its first four fields set) stays in
 * use until rt_overflow_leave_thread on the same thread. RT_NO_MEMORY, RT_FAILED: nothing was changed. */
rt_status rt_overflow_enter_thread(rt_overflow_thread *self);
void rt_overflow_leave_thread(rt_overflow_thread *self);

#endif
