#include "rt_course.h"

#include "rt_proc.h"

#include <pthread.h>

struct rt_course {
    rt_course_options options;
    rt_recorder **recorders; /* one a worker, and one under `others` */
    pthread_mutex_t others;
    rt_course_phase *phases; /* RT_LOAD_PHASES of them */
    rt_course_period *periods;
    rt_histogram *taken;  /* what the recorders gave last */
    rt_histogram *period; /* latencies of the present period */
    uint32_t period_count;
    uint64_t written_bytes; /* by the process before the first submission */
    uint64_t period_ns; /* length of a period now */
    uint64_t period_end_ns;
    rt_load_phase phase;
    uint64_t phase_start_ns;
    rt_scheduler_counts at_phase, at_period; /* counts when the present phase and period began */
};

static rt_status allocate(rt_course *self) {
    rt_allocator *const allocator = self->options.allocator;
    const uint32_t recorders = self->options.workers + 1u;
    self->recorders = rt_allocate_array(allocator, recorders, sizeof *self->recorders);
    self->phases = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, RT_LOAD_PHASES, sizeof *self->phases);
    self->taken = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, 1, sizeof *self->taken);
    self->period = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, 1, sizeof *self->period);
    self->periods = rt_allocate_owned(allocator, RT_OWNER_VERIFICATION, self->options.max_periods,
                                      sizeof *self->periods);
    if (self->recorders == NULL || self->phases == NULL || self->taken == NULL || self->period == NULL ||
        self->periods == NULL) {
        return RT_NO_MEMORY;
    }
    rt_status status = RT_OK;
    for (uint32_t i = 0; status == RT_OK && i < recorders; i++) {
        status = rt_recorder_create(allocator, &self->recorders[i]);
    }
    return status;
}

rt_status rt_course_create(const rt_course_options *options, rt_course **out) {
    *out = NULL;
    rt_course *const self = rt_allocate(options->allocator, sizeof *self);
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    self->options = *options;
    pthread_mutex_init(&self->others, NULL);
    const rt_status status = allocate(self);
    if (status != RT_OK) {
        rt_course_destroy(self);
        return status;
    }
    for (unsigned phase = 0; phase < RT_LOAD_PHASES; phase++) {
        rt_histogram_init(&self->phases[phase].queue);
    }
    rt_histogram_init(self->period);
    self->period_ns = options->period_ns;
    self->period_end_ns = options->period_ns == 0 ? UINT64_MAX : options->period_ns;
    *out = self;
    return RT_OK;
}

void rt_course_destroy(rt_course *self) {
    if (self == NULL) {
        return;
    }
    rt_allocator *const allocator = self->options.allocator;
    for (uint32_t i = 0; self->recorders != NULL && i <= self->options.workers; i++) {
        rt_recorder_destroy(self->recorders[i]);
    }
    rt_free_lines(allocator, self->periods);
    rt_free_lines(allocator, self->period);
    rt_free_lines(allocator, self->taken);
    rt_free_lines(allocator, self->phases);
    rt_free(allocator, self->recorders);
    pthread_mutex_destroy(&self->others);
    rt_free(allocator, self);
}

void rt_course_record(rt_course *self, uint32_t worker, uint64_t queue_ns) {
    if (worker < self->options.workers) {
        rt_recorder_record(self->recorders[worker], queue_ns);
        return;
    }
    pthread_mutex_lock(&self->others);
    rt_recorder_record(self->recorders[self->options.workers], queue_ns);
    pthread_mutex_unlock(&self->others);
}

/* ---- the submitter's half ---- */

static rt_course_phase *present(rt_course *self) { return &self->phases[self->phase]; }

static uint64_t written_bytes(const rt_course *self) {
    char text[512], value[32];
    uint64_t bytes;
    const bool read = rt_proc_read(self->options.proc_root, "/proc/self/io", text, sizeof text) &&
                      rt_proc_line(text, "wchar", value, sizeof value) && rt_proc_number(value, &bytes);
    return read ? bytes : UINT64_MAX;
}

void rt_course_begin(rt_course *self, rt_load_phase phase) {
    self->written_bytes = written_bytes(self);
    self->phase = phase;
    present(self)->seen = true;
}

/* What was recorded since the last time belongs to the present phase and the present period. */
static void take_latencies(rt_course *self) {
    rt_histogram_init(self->taken);
    for (uint32_t i = 0; i <= self->options.workers; i++) {
        rt_recorder_take(self->recorders[i], self->taken);
    }
    rt_histogram_merge(&present(self)->queue, self->taken);
    rt_histogram_merge(self->period, self->taken);
}

static void close_phase(rt_course *self, uint64_t at_ns, const rt_scheduler_counts *counts) {
    rt_course_phase *const phase = present(self);
    phase->elapsed_ns += at_ns - self->phase_start_ns;
    phase->submitted += counts->submitted - self->at_phase.submitted;
    phase->completed += counts->completed - self->at_phase.completed;
    phase->failed += counts->failed - self->at_phase.failed;
    phase->queue_at_end = counts->queued;
    self->phase_start_ns = at_ns;
    self->at_phase = *counts;
}

static void see_queue(rt_course *self, uint64_t queue) {
    rt_course_phase *const phase = present(self);
    phase->queue_peak = queue > phase->queue_peak ? queue : phase->queue_peak;
}

static void open_phase(rt_course *self, rt_load_phase phase, uint64_t queue) {
    self->phase = phase;
    if (!present(self)->seen) {
        present(self)->seen = true;
        present(self)->queue_at_start = queue;
    }
    see_queue(self, queue);
}

static uint64_t written_since_start(const rt_course *self) {
    const uint64_t now = written_bytes(self);
    return now == UINT64_MAX || self->written_bytes == UINT64_MAX ? UINT64_MAX : now - self->written_bytes;
}

/* Two rows become one: counts add up, percentiles cannot, so the larger ones stay (an upper bound). */
static void join_periods(rt_course_period *first, const rt_course_period *second) {
    rt_course_period joined = *second;
    joined.submitted += first->submitted;
    joined.completed += first->completed;
    joined.failed += first->failed;
    joined.cancelled += first->cancelled;
    joined.timed_out += first->timed_out;
    joined.latencies += first->latencies;
    joined.p50_ns = first->p50_ns > second->p50_ns ? first->p50_ns : second->p50_ns;
    joined.p95_ns = first->p95_ns > second->p95_ns ? first->p95_ns : second->p95_ns;
    joined.p99_ns = first->p99_ns > second->p99_ns ? first->p99_ns : second->p99_ns;
    *first = joined;
}

static void halve(rt_course *self) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < self->period_count; i += 2) {
        rt_course_period row = self->periods[i];
        if (i + 1 < self->period_count) {
            join_periods(&row, &self->periods[i + 1]);
        }
        self->periods[kept++] = row;
    }
    self->period_count = kept;
    self->period_ns *= 2;
}

static void close_period(rt_course *self, uint64_t at_ns, const rt_scheduler_counts *counts) {
    const rt_scheduler_counts *const before = &self->at_period;
    rt_memory_usage memory = {.rss_bytes = 0};
    if (rt_memory_read(self->options.proc_root, &memory) != RT_OK) {
        memory = (rt_memory_usage){.rss_bytes = 0};
    }
    if (self->period_count == self->options.max_periods) {
        halve(self);
    }
    self->periods[self->period_count++] =
        (rt_course_period){.t_ns = at_ns,
                           .submitted = counts->submitted - before->submitted,
                           .completed = counts->completed - before->completed,
                           .failed = counts->failed - before->failed,
                           .cancelled = counts->cancelled - before->cancelled,
                           .timed_out = counts->timed_out - before->timed_out,
                           .latencies = self->period->count,
                           .p50_ns = rt_histogram_percentile_ns(self->period, 50, 100),
                           .p95_ns = rt_histogram_percentile_ns(self->period, 95, 100),
                           .p99_ns = rt_histogram_percentile_ns(self->period, 99, 100),
                           .queue = counts->queued,
                           .active = counts->active,
                           .rss_bytes = memory.rss_bytes,
                           .threads = memory.threads,
                           .written_bytes = written_since_start(self)};
    rt_histogram_init(self->period);
    self->at_period = *counts;
    self->period_end_ns = (at_ns / self->period_ns + 1) * self->period_ns;
}

void rt_course_observe(rt_course *self, uint64_t at_ns, rt_load_phase phase,
                       const rt_scheduler_counts *counts) {
    const bool changes = phase != self->phase;
    const bool ends_period = at_ns >= self->period_end_ns;
    if (changes || ends_period) {
        take_latencies(self);
    }
    see_queue(self, counts->queued);
    if (changes) {
        close_phase(self, at_ns, counts);
        open_phase(self, phase, counts->queued);
    }
    if (ends_period) {
        close_period(self, at_ns, counts);
    }
}

void rt_course_end(rt_course *self, uint64_t at_ns, const rt_scheduler_counts *counts) {
    take_latencies(self);
    close_phase(self, at_ns, counts);
    if (self->period_ns > 0) {
        close_period(self, at_ns, counts);
    }
}

uint64_t rt_course_period_end_ns(const rt_course *self) { return self->period_end_ns; }

const rt_course_phase *rt_course_phase_of(const rt_course *self, rt_load_phase phase) {
    return &self->phases[phase];
}

uint32_t rt_course_periods(const rt_course *self) { return self->period_count; }

const rt_course_period *rt_course_period_at(const rt_course *self, uint32_t index) {
    return &self->periods[index];
}
