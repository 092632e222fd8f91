/* Two coroutines on two threads add to a plain integer: ThreadSanitizer must follow the switches and see. */
#include "rt_coroutine.h"

#include <pthread.h>

static volatile int shared;

typedef struct side {
    rt_stack *stack; /* taken before: the lock of the pool would put the threads in an order */
    rt_coroutine thread;
    rt_coroutine *coroutine;
} side;

static void add(void *argument, void *message) {
    side *const self = argument;
    for (;;) {
        shared = shared + 1;
        message = rt_coroutine_switch(self->coroutine, &self->thread, message);
    }
}

static void *run(void *argument) {
    side *const self = argument;
    rt_coroutine_adopt(&self->thread);
    self->coroutine = rt_coroutine_make(self->stack, add, self);
    for (int i = 0; i < 1000; i++) {
        rt_coroutine_switch(&self->thread, self->coroutine, NULL);
    }
    rt_coroutine_drop(self->coroutine);
    return NULL;
}

int main(void) {
    rt_allocator allocator;
    rt_allocator_init(&allocator, 0);
    rt_stack_pool *pool;
    pthread_t threads[2];
    if (rt_stack_pool_create(&allocator, 65536, 8, &pool) != RT_OK) {
        return 2;
    }
    side sides[2] = {{.stack = rt_stack_pool_take(pool)}, {.stack = rt_stack_pool_take(pool)}};
    pthread_create(&threads[0], 0, run, &sides[0]);
    pthread_create(&threads[1], 0, run, &sides[1]);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    rt_stack_pool_destroy(pool);
    return 0;
}
