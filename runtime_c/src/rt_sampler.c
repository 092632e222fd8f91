#include "rt_sampler.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "rt_clock.h"
#include "rt_memory.h"
#include "rt_resident.h"

struct rt_sampler {
    rt_allocator *allocator;
    rt_sampler_source *source;
    void *context;
    rt_sample *rows;
    size_t capacity;
    size_t count;
    uint64_t interval_ns;
    uint64_t start_ns;
    uint64_t start_cpu_ns;
    uint64_t cost_ns;
    uint64_t threads_peak;
    uint64_t misses;
    uint64_t thread_cpu_ns; /* of the thread, written by itself at its end, like the two below */
    uint64_t stack_reserved_bytes, stack_resident_bytes;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping; /* under mutex */
    bool running;  /* only for the thread that starts and stops */
    bool started;
};

static uint64_t cpu_ns(clockid_t clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void halve_resolution(rt_sampler *self) {
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i += 2) {
        self->rows[kept++] = self->rows[i];
    }
    self->count = kept;
    self->interval_ns *= 2;
}

void rt_sampler_take(rt_sampler *self) {
    uint64_t before_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    rt_memory_usage memory = {0};
    rt_sample sample = {0};
    const uint64_t now_ns = rt_clock_monotonic_ns(), process_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!self->started) {
        self->started = true;
        self->start_ns = now_ns;
        self->start_cpu_ns = process_ns;
    }
    sample.t_ns = now_ns - self->start_ns;
    sample.cpu_ns = process_ns - self->start_cpu_ns;
    self->source(self->context, &sample);
    if (rt_memory_read("", &memory) != RT_OK) {
        self->misses++;
    }
    sample.rss_bytes = memory.rss_bytes;
    sample.threads = memory.threads;
    if (memory.threads > self->threads_peak) {
        self->threads_peak = memory.threads;
    }
    if (self->count == self->capacity) {
        halve_resolution(self);
    }
    self->rows[self->count++] = sample;
    self->cost_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

static struct timespec to_timespec(uint64_t ns) {
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return time;
}

/* Waits until the given time. false: the sampler is to stop. */
static bool wait_until(rt_sampler *self, uint64_t due_ns) {
    struct timespec due = to_timespec(due_ns);
    pthread_mutex_lock(&self->mutex);
    while (!self->stopping && rt_clock_monotonic_ns() < due_ns) {
        pthread_cond_timedwait(&self->wake, &self->mutex, &due);
    }
    bool goes_on = !self->stopping;
    pthread_mutex_unlock(&self->mutex);
    return goes_on;
}

/* Its own stack stays in RAM after the thread has ended: the C library keeps it for the next one. */
static void look_at_itself(rt_sampler *self) {
    pthread_attr_t attributes;
    void *stack;
    size_t stack_bytes;
    rt_resident pages;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &stack_bytes);
        pthread_attr_destroy(&attributes);
        rt_resident_open(&pages);
        self->stack_reserved_bytes = stack_bytes;
        self->stack_resident_bytes = rt_resident_bytes(&pages, stack, stack_bytes);
        rt_resident_close(&pages);
    }
    self->thread_cpu_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The times are multiples of the interval from the start: a late sample does not shift those that follow. */
static void *sample_until_stopped(void *argument) {
    rt_sampler *self = argument;
    for (;;) {
        uint64_t passed_ns = rt_clock_monotonic_ns() - self->start_ns;
        uint64_t due_ns = self->start_ns + (passed_ns / self->interval_ns + 1) * self->interval_ns;
        if (!wait_until(self, due_ns)) {
            look_at_itself(self);
            return NULL;
        }
        rt_sampler_take(self);
    }
}

static bool init_wake(rt_sampler *self) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool ready = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                 pthread_cond_init(&self->wake, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return ready;
}

rt_status rt_sampler_create(rt_allocator *allocator, uint64_t interval_ns, size_t capacity,
                            rt_sampler_source *source, void *context, rt_sampler **out, rt_message *why) {
    *out = NULL;
    if (interval_ns == 0 || capacity < 4) {
        return rt_fail(why, RT_INVALID, "the sampler needs an interval above 0 and room for 4 rows");
    }
    rt_sampler *self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the sampler");
    }
    self->allocator = allocator;
    self->source = source;
    self->context = context;
    self->interval_ns = interval_ns;
    self->capacity = capacity;
    self->rows = rt_allocate_owned(allocator, RT_OWNER_SAMPLER, capacity, sizeof *self->rows);
    if (self->rows == NULL) {
        goto fail;
    }
    if (pthread_mutex_init(&self->mutex, NULL) != 0) {
        goto fail_rows;
    }
    if (!init_wake(self)) {
        goto fail_mutex;
    }
    *out = self;
    return RT_OK;
fail_mutex:
    pthread_mutex_destroy(&self->mutex);
fail_rows:
    rt_free_lines(allocator, self->rows);
fail:
    rt_free(allocator, self);
    return rt_fail(why, RT_NO_MEMORY, "no memory for %zu rows of the sampler", capacity);
}

void rt_sampler_destroy(rt_sampler *self) {
    if (self == NULL) {
        return;
    }
    rt_sampler_stop(self);
    pthread_cond_destroy(&self->wake);
    pthread_mutex_destroy(&self->mutex);
    rt_free_lines(self->allocator, self->rows);
    rt_free(self->allocator, self);
}

static bool start_thread(rt_sampler *self) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    pthread_attr_setstacksize(&attributes, RT_SAMPLER_STACK_BYTES);
    const int error = pthread_create(&self->thread, &attributes, sample_until_stopped, self);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

rt_status rt_sampler_start(rt_sampler *self, rt_message *why) {
    rt_sampler_take(self);
    self->stopping = false;
    if (!start_thread(self)) {
        return rt_fail(why, RT_NO_THREAD,
                       "the sampler's thread could not start; raise the limits of threads and memory");
    }
    self->running = true;
    return RT_OK;
}

void rt_sampler_stop(rt_sampler *self) {
    if (!self->running) {
        return;
    }
    pthread_mutex_lock(&self->mutex);
    self->stopping = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->mutex);
    pthread_join(self->thread, NULL);
    self->running = false;
    rt_sampler_take(self);
}

size_t rt_sampler_count(const rt_sampler *self) { return self->count; }

const rt_sample *rt_sampler_row(const rt_sampler *self, size_t index) { return &self->rows[index]; }

uint64_t rt_sampler_interval_ns(const rt_sampler *self) { return self->interval_ns; }

uint64_t rt_sampler_cost_ns(const rt_sampler *self) { return self->cost_ns; }

uint64_t rt_sampler_threads_peak(const rt_sampler *self) { return self->threads_peak; }

uint64_t rt_sampler_misses(const rt_sampler *self) { return self->misses; }

uint64_t rt_sampler_cpu_ns(const rt_sampler *self) { return self->thread_cpu_ns; }

void rt_sampler_account(const rt_sampler *self, rt_memory_account *account) {
    rt_memory_account_add_stacks(account, RT_OWNER_SAMPLER, self->stack_reserved_bytes,
                                 self->stack_resident_bytes);
}
