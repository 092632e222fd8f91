/* A coroutine: a stack that runs until it switches to another, on whichever thread switches to it.
 *
 * x86-64 (System V) and AArch64 (AAPCS64) have their own switch of some 7 ns: the callee-saved registers and
 * the floating-point control, nothing else; the signal mask stays the thread's. Elsewhere, under a sanitizer
 * and with RT_COROUTINE_UCONTEXT defined it is swapcontext (two system calls), with the annotations that
 * AddressSanitizer and ThreadSanitizer need to follow.
 *
 * Rules for code that switches:
 *   A coroutine may come back on another thread: keep no address of a thread-local variable (errno's too)
 *   across a switch, and hold no mutex across one.
 *   What one thread wrote before another resumes the coroutine must be ordered by the caller's own lock.
 *   An entry function never returns: it leaves. Nobody unwinds a coroutine that is dropped while suspended.
 * Shadow stacks (CET): the switch does not exchange them, so it is built without -fcf-protection and its
 * object says so to the linker; a program that needs them is built with RT_COROUTINE_UCONTEXT. */
#ifndef RT_COROUTINE_H
#define RT_COROUTINE_H

#include "rt_stack.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                                         \
    !(defined(__x86_64__) || defined(__aarch64__)) || defined(__ILP32__)
#ifndef RT_COROUTINE_UCONTEXT
#define RT_COROUTINE_UCONTEXT 1
#endif
#endif
#ifdef RT_COROUTINE_UCONTEXT
#include <ucontext.h>
#endif

/* What runs on a new coroutine: `message` is that of the first switch to it. Must not return. */
typedef void (*rt_coroutine_entry)(void *argument, void *message);

/* Fields are private. */
typedef struct rt_coroutine {
    void *stack_pointer; /* while suspended */
    rt_stack *stack;     /* NULL: a thread's own */
#ifdef RT_COROUTINE_UCONTEXT
    rt_coroutine_entry entry;
    void *argument;
    void *message;
    ucontext_t context;
    const void *low; /* of the stack, for AddressSanitizer */
    size_t bytes;
    void *fake_stack; /* AddressSanitizer's */
    void *fiber;      /* ThreadSanitizer's */
#endif
} rt_coroutine;

/* Makes a coroutine that will run `entry` from the first switch to it. It stands at the top of the stack and
 * lives until rt_coroutine_drop. No allocation. */
rt_coroutine *rt_coroutine_make(rt_stack *stack, rt_coroutine_entry entry, void *argument);

/* Makes the running thread, on its own stack, something to switch from and back to. `self` is the caller's
 * and needs no ending. */
void rt_coroutine_adopt(rt_coroutine *self);

/* Suspends `from`, which must be what runs now, and runs `to`, which must be suspended. Returns when
 * something switches to `from`, with that switch's message. Before `from` is resumed on another thread its
 * suspension must be complete: the one who publishes `from` does so from `to`, after the switch. */
void *rt_coroutine_switch(rt_coroutine *from, rt_coroutine *to, void *message);

/* As rt_coroutine_switch, for ever: `from` must not be resumed again. `to` may drop it. */
_Noreturn void rt_coroutine_leave(rt_coroutine *from, rt_coroutine *to, void *message);

/* Ends a coroutine that left, or that is suspended and will not be resumed. Returns its stack, which is the
 * caller's to give back. */
rt_stack *rt_coroutine_drop(rt_coroutine *self);

#endif
