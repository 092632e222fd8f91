#include "rt_overflow.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SIGNAL_STACK_BYTES 65536u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned watchers;
static struct sigaction previous;
/* Read by the handler on the same thread. Initial-exec: the access allocates nothing; no handler may. */
static __thread rt_overflow_thread *volatile this_thread __attribute__((tls_model("initial-exec")));

/* As if ours had never been there. */
static void pass_on(int number, siginfo_t *information, void *machine_state) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, information, machine_state);
        return;
    }
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
        return;
    }
    /* The faulting instruction runs again and ends the process; a signal that somebody sent does not. */
    if (information->si_code > 0) {
        struct sigaction fatal = {.sa_handler = SIG_DFL};
        sigaction(number, &fatal, NULL);
    } else if (previous.sa_handler == SIG_DFL) {
        sigaction(number, &previous, NULL);
        raise(number);
    }
}

static void on_fault(int number, siginfo_t *information, void *machine_state) {
    rt_overflow_thread *const thread = this_thread;
    if (thread != NULL && thread->recover != NULL && information->si_code > 0) {
        rt_stack *const overflown = rt_stack_pool_guard_at(thread->pool, information->si_addr);
        if (overflown != NULL) {
            thread->recover(thread->context, overflown);
            abort(); /* a recovery that returns would fault again for ever */
        }
    }
    pass_on(number, information, machine_state);
}

rt_status rt_overflow_watch(rt_message *why) {
    rt_status status = RT_OK;
    pthread_mutex_lock(&lock);
    if (watchers == 0) {
        /* Not blocked while it runs: the recovery does not return, so nothing would unblock it. */
        struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        ours.sa_sigaction = on_fault;
        sigemptyset(&ours.sa_mask);
        if (sigaction(SIGSEGV, &ours, &previous) != 0) {
            status = rt_fail(why, RT_FAILED, "the handler for stack overflows could not be installed");
        }
    }
    watchers += status == RT_OK;
    pthread_mutex_unlock(&lock);
    return status;
}

void rt_overflow_unwatch(void) {
    pthread_mutex_lock(&lock);
    struct sigaction now;
    if (--watchers == 0 && sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_fault) {
        sigaction(SIGSEGV, &previous, NULL);
    }
    pthread_mutex_unlock(&lock);
}

rt_status rt_overflow_enter_thread(rt_overflow_thread *self) {
    stack_t before;
    stack_t ours = {.ss_size = SIGNAL_STACK_BYTES};
    ours.ss_sp = rt_allocate(self->allocator, SIGNAL_STACK_BYTES);
    if (ours.ss_sp == NULL) {
        return RT_NO_MEMORY;
    }
    if (sigaltstack(&ours, &before) != 0) {
        rt_free(self->allocator, ours.ss_sp);
        return RT_FAILED;
    }
    self->signal_stack = ours.ss_sp;
    self->previous_stack = before.ss_sp;
    self->previous_bytes = before.ss_size;
    self->previous_flags = before.ss_flags;
    this_thread = self;
    return RT_OK;
}

void rt_overflow_leave_thread(rt_overflow_thread *self) {
    this_thread = NULL;
    const stack_t before = {.ss_sp = self->previous_stack,
                            .ss_size = self->previous_bytes,
                            .ss_flags = self->previous_flags & SS_DISABLE};
    sigaltstack(&before, NULL);
    rt_free(self->allocator, self->signal_stack);
    self->signal_stack = NULL;
}
