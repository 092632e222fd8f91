#include "rt_backlog.h"

#define SHORTEST_WINDOW_NS UINT64_C(200000000)
#define FEWEST_ROWS 4u /* in each third */
#define NS_PER_S 1e9
#define GROWTH_OF_RATE 0.01
#define GROWTH_S 0.05
#define FEW_TASKS 16u

struct rt_backlog {
    rt_allocator *allocator;
    rt_backlog_row *rows;
    size_t capacity, count;
    size_t keep_every, seen; /* of the rows offered, every so many is kept */
};

rt_status rt_backlog_create(rt_allocator *allocator, size_t capacity, rt_backlog **out) {
    *out = NULL;
    rt_backlog *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    self->allocator = allocator;
    self->capacity = capacity < FEW_TASKS ? FEW_TASKS : capacity;
    self->keep_every = 1;
    self->rows = rt_allocate_lines(allocator, self->capacity, sizeof *self->rows);
    if (self->rows == NULL) {
        rt_free(allocator, self);
        return RT_NO_MEMORY;
    }
    *out = self;
    return RT_OK;
}

void rt_backlog_destroy(rt_backlog *self) {
    if (self != NULL) {
        rt_free_lines(self->allocator, self->rows);
        rt_free(self->allocator, self);
    }
}

static void halve(rt_backlog *self) {
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i += 2) {
        self->rows[kept++] = self->rows[i];
    }
    self->count = kept;
    self->keep_every *= 2;
}

void rt_backlog_add(rt_backlog *self, const rt_backlog_row *row) {
    if (self->seen++ % self->keep_every != 0) {
        return;
    }
    if (self->count == self->capacity) {
        halve(self);
    }
    self->rows[self->count++] = *row;
}

/* ---- windows ---- */

rt_backlog_window rt_backlog_window_of(uint64_t submit_ns, uint64_t cycle_ns) {
    if (cycle_ns == 0) {
        return (rt_backlog_window){submit_ns / 10, submit_ns};
    }
    const uint64_t rounds = submit_ns / cycle_ns;
    return (rt_backlog_window){rounds % 3 * cycle_ns, rounds * cycle_ns};
}

typedef struct part {
    size_t count;
    double queue, in_system; /* integrals over time: a late row stands for all the time since the one before it */
    const rt_backlog_row *first, *last;
} part;

static double between(uint64_t before, uint64_t after, uint64_t passed_ns) {
    return ((double)before + (double)after) / 2.0 * (double)passed_ns;
}

static part sum_rows(const rt_backlog *self, uint64_t from_ns, uint64_t until_ns) {
    part sum = {.count = 0};
    for (size_t i = 0; i < self->count; i++) {
        const rt_backlog_row *const row = &self->rows[i];
        if (row->t_ns < from_ns || row->t_ns >= until_ns) {
            continue;
        }
        if (sum.count == 0) {
            sum.first = row;
        } else {
            const uint64_t passed_ns = row->t_ns - sum.last->t_ns;
            sum.queue += between(sum.last->queue, row->queue, passed_ns);
            sum.in_system += between(sum.last->in_system, row->in_system, passed_ns);
        }
        sum.last = row;
        sum.count++;
    }
    return sum;
}

/* The mean over the time of the part; of a single row its value. */
static double mean_of(const part *sum, double integral, uint64_t only) {
    const uint64_t passed_ns = sum->count == 0 ? 0 : sum->last->t_ns - sum->first->t_ns;
    return passed_ns == 0 ? (double)only : integral / (double)passed_ns;
}

static double mean_queue(const part *sum) {
    return mean_of(sum, sum->queue, sum->count == 0 ? 0 : sum->last->queue);
}

static double mean_in_system(const part *sum) {
    return mean_of(sum, sum->in_system, sum->count == 0 ? 0 : sum->last->in_system);
}

static const char *too_short(rt_backlog_window window) {
    return window.until_ns - window.from_ns < SHORTEST_WINDOW_NS
               ? "the window of submission is shorter than 200 ms, or than three rounds of its phases"
               : NULL;
}

static double rate_between(const rt_backlog_row *first, const rt_backlog_row *last) {
    const uint64_t passed_ns = last->t_ns - first->t_ns;
    return passed_ns == 0 ? 0.0
                          : (double)(last->admitted - first->admitted) / ((double)passed_ns / NS_PER_S);
}

const char *rt_backlog_growth_of(const rt_backlog *self, rt_backlog_window window, rt_backlog_growth *out) {
    const uint64_t length_ns = window.until_ns - window.from_ns;
    part thirds[3];
    if (too_short(window) != NULL) {
        return too_short(window);
    }
    for (unsigned i = 0; i < 3; i++) {
        thirds[i] = sum_rows(self, window.from_ns + length_ns * i / 3, window.from_ns + length_ns * (i + 1) / 3);
        if (thirds[i].count < FEWEST_ROWS) {
            return "the sampler took fewer than four samples in a third of the window";
        }
    }
    const double first = mean_queue(&thirds[0]), middle = mean_queue(&thirds[1]), last = mean_queue(&thirds[2]);
    const double rate = rate_between(thirds[0].first, thirds[2].last);
    *out = (rt_backlog_growth){.window_ns = length_ns, .queue_first = first, .queue_last = last};
    out->growth_per_second = (last - first) / ((double)length_ns * 2.0 / 3.0 / NS_PER_S);
    out->growing = first < middle && middle < last && last - first >= FEW_TASKS &&
                   out->growth_per_second >= GROWTH_OF_RATE * rate && last - first >= GROWTH_S * rate;
    return NULL;
}

const char *rt_backlog_little_of(const rt_backlog *self, rt_backlog_window window, rt_backlog_little *out) {
    rt_backlog_growth growth;
    const char *const unknown = rt_backlog_growth_of(self, window, &growth);
    if (unknown != NULL) {
        return unknown;
    }
    if (growth.growing) {
        return "the queue grew over the window, so there is no steady state";
    }
    const part all = sum_rows(self, window.from_ns, window.until_ns);
    const uint64_t ended = all.last->ended - all.first->ended;
    const uint64_t counted_ns = all.last->in_system_at_ns - all.first->in_system_at_ns;
    const double task_s = all.last->in_system_s - all.first->in_system_s;
    if (ended == 0 || counted_ns == 0 || task_s <= 0) {
        return "no task ended in the window";
    }
    *out = (rt_backlog_little){.window_ns = all.last->t_ns - all.first->t_ns,
                               .arrival_rate_per_s = rate_between(all.first, all.last),
                               .mean_in_system = task_s / ((double)counted_ns / NS_PER_S)};
    out->mean_time_ms = (double)(all.last->ended_time_ns - all.first->ended_time_ns) / (double)ended / 1e6;
    out->product = out->arrival_rate_per_s * out->mean_time_ms / 1e3;
    out->error_percent = (out->product - out->mean_in_system) / out->mean_in_system * 100.0;
    return NULL;
}

/* ---- outage ---- */

void rt_backlog_outage_of(const rt_backlog *self, uint64_t start_ns, uint64_t end_ns, uint64_t submit_ns,
                          rt_backlog_outage *out) {
    const part before = sum_rows(self, start_ns / 2, start_ns);
    *out = (rt_backlog_outage){.before = (uint64_t)(mean_in_system(&before) + 0.5)};
    const uint64_t steady =
        out->before / 2 > FEW_TASKS ? out->before + out->before / 2 : out->before + FEW_TASKS;
    for (size_t i = 0; i < self->count; i++) {
        const rt_backlog_row *const row = &self->rows[i];
        if (row->t_ns >= start_ns && row->in_system > out->peak) {
            out->peak = row->in_system;
        }
        if (!out->recovered && row->t_ns >= end_ns && row->t_ns < submit_ns && row->in_system <= steady) {
            out->recovered = true;
            out->recovery_ns = row->t_ns - end_ns;
        }
    }
}
