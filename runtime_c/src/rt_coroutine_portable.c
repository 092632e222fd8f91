/* Coroutines by swapcontext: portable, and what the sanitizers can follow. */
#include "rt_coroutine.h"

#ifdef RT_COROUTINE_UCONTEXT

#include <pthread.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/* ThreadSanitizer notes each call on a shadow stack of the fiber that runs. A function that is entered on one
 * fiber and left on another would take from a shadow stack what it never put there; so everything around the
 * switch is not instrumented, and not merged into what is. */
#define UNINSTRUMENTED __attribute__((noinline, no_sanitize_thread, no_sanitize_address))

UNINSTRUMENTED static void before_switch(rt_coroutine *from, rt_coroutine *to, bool for_ever) {
    (void)from, (void)to, (void)for_ever;
#ifdef __SANITIZE_ADDRESS__
    /* Without a place to keep it the fake stack of a coroutine that never runs again is freed. */
    __sanitizer_start_switch_fiber(for_ever ? NULL : &from->fake_stack, to->low, to->bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
}

UNINSTRUMENTED static void after_switch(rt_coroutine *self) {
    (void)self;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(self->fake_stack, NULL, NULL);
#endif
}

/* makecontext passes integers: the address of the coroutine comes in two halves. */
UNINSTRUMENTED static void begin(unsigned high, unsigned low) {
    rt_coroutine *const self = (rt_coroutine *)(uintptr_t)((uint64_t)high << 32 | low);
    after_switch(self);
    self->entry(self->argument, self->message);
    __builtin_trap();
}

rt_coroutine *rt_coroutine_make(rt_stack *stack, rt_coroutine_entry entry, void *argument) {
#ifdef __SANITIZE_ADDRESS__
    /* Frames of the last coroutine here that never returned are still marked. */
    __asan_unpoison_memory_region(stack->low, stack->bytes);
#endif
    const uintptr_t top = ((uintptr_t)stack->low + stack->bytes - sizeof(rt_coroutine)) & ~(uintptr_t)63;
    rt_coroutine *const self = (rt_coroutine *)top;
    memset(self, 0, sizeof *self);
    self->stack = stack;
    self->entry = entry;
    self->argument = argument;
    self->low = stack->low;
    self->bytes = stack->bytes;
    getcontext(&self->context);
    self->context.uc_stack.ss_sp = stack->low;
    self->context.uc_stack.ss_size = top - (uintptr_t)stack->low;
    self->context.uc_link = NULL;
    makecontext(&self->context, (void (*)(void))begin, 2, (unsigned)((uint64_t)top >> 32), (unsigned)top);
#ifdef __SANITIZE_THREAD__
    self->fiber = __tsan_create_fiber(0);
#endif
    return self;
}

void rt_coroutine_adopt(rt_coroutine *self) {
    memset(self, 0, sizeof *self);
#ifdef __SANITIZE_ADDRESS__
    pthread_attr_t attributes;
    void *low = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &self->bytes);
        pthread_attr_destroy(&attributes);
    }
    self->low = low;
#endif
#ifdef __SANITIZE_THREAD__
    self->fiber = __tsan_get_current_fiber();
#endif
}

UNINSTRUMENTED void *rt_coroutine_switch(rt_coroutine *from, rt_coroutine *to, void *message) {
    to->message = message;
    before_switch(from, to, false);
    swapcontext(&from->context, &to->context);
    after_switch(from);
    return from->message;
}

UNINSTRUMENTED void rt_coroutine_leave(rt_coroutine *from, rt_coroutine *to, void *message) {
    to->message = message;
    before_switch(from, to, true);
    setcontext(&to->context);
    __builtin_trap();
}

rt_stack *rt_coroutine_drop(rt_coroutine *self) {
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(self->fiber);
#endif
    return self->stack;
}

#endif
