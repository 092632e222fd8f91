/* The state of a simulation, shared by its parts. Private to src/sim. */
#ifndef RT_SIM_STATE_H
#define RT_SIM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "rt_histogram.h"
#include "rt_json.h"
#include "rt_sim_draw.h"
#include "rt_sim_gate.h"
#include "rt_sim_queue.h"
#include "simulator.h"

#define RT_SIM_PRIORITIES 16u
#define RT_SIM_DEGRADATIONS 16u
/* Result of starting an operation: it is on its way or waits. Otherwise an RT_SIM_CALL_... */
#define RT_SIM_PENDING UINT32_MAX

typedef struct rt_sim_group { /* a class or a tenant */
    uint64_t arrived, finished, succeeded, failed, shed;
    uint64_t wait_max_ns;
    unsigned __int128 wait_sum_ns;
    rt_histogram *duration; /* NULL for a tenant */
    /* of a tenant that waits for fair share */
    rt_sim_line line;
    uint64_t pass, stride;
} rt_sim_group;

typedef struct rt_sim_degraded {
    uint64_t tasks, times, onset_ns;
} rt_sim_degraded;

typedef struct rt_sim_layer {
    uint64_t logical, attempts, exhausted;
} rt_sim_layer;

/* An integral over time of a number that changes. */
typedef struct rt_sim_area {
    uint64_t value, value_max, since_ns;
    unsigned __int128 sum;
} rt_sim_area;

static inline void rt_sim_area_change(rt_sim_area *self, int64_t by, uint64_t now_ns) {
    self->sum += (unsigned __int128)self->value * (now_ns - self->since_ns);
    self->since_ns = now_ns;
    self->value += (uint64_t)by;
    self->value_max = self->value > self->value_max ? self->value : self->value_max;
}

typedef struct rt_sim_totals {
    uint64_t arrived, admitted, finished, succeeded, failed, shed, unfinished, measured;
    uint64_t failed_calls, failed_refused, shed_queue, shed_degradation;
    uint64_t steps_done, logical, attempts, retries, dropped_budget, dropped_degradation;
    unsigned __int128 sojourn_ns;
    /* sums of what tasks carry, against the sums of the gates */
    unsigned __int128 tokens_input, tokens_cached, tokens_output, cost_pusd;
    uint64_t task_attempts;
    bool unpriced;
    /* of ended tasks, for the interval of attempts / logical */
    uint64_t sampled;
    unsigned __int128 sample_attempts, sample_logical, sample_aa, sample_al, sample_ll;
} rt_sim_totals;

typedef struct rt_sim_trace {
    uint64_t begun_ns; /* of the task: when it got a worker slot */
    uint64_t asked_ns, started_ns;
} rt_sim_trace;

enum {
    RT_SIM_HISTOGRAM_DURATION,
    RT_SIM_HISTOGRAM_QUEUE,
    RT_SIM_HISTOGRAM_STEPS,
    RT_SIM_HISTOGRAM_MODEL,
    RT_SIM_HISTOGRAM_TOOL,
    RT_SIM_HISTOGRAMS
};

struct rt_sim {
    rt_sim_scenario scenario;
    rt_allocator allocator;
    rt_sim_slot *slots; /* these three have the same numbers */
    rt_sim_link *links;
    rt_sim_entry *entries;
    uint32_t slots_count, slots_used; /* the latter: ever taken */
    uint32_t free;                    /* list */
    rt_sim_queue queue;
    rt_status status; /* the first failure; ends the run */
    uint64_t now_ns;
    uint64_t events, pops;
    uint64_t planned; /* arrivals planned or arrived */
    uint64_t last_arrival_ns;
    uint64_t users; /* of a closed loop, that have come */
    uint64_t pending_arrivals;
    _Atomic int interrupted;
    int executed;
    const char *outcome;

    uint64_t shares_tenants, shares_classes;
    rt_sim_gate *gates; /* providers, then tools */
    uint32_t gates_count;
    rt_sim_area in_flight, busy;
    rt_sim_line lines[RT_SIM_PRIORITIES]; /* for a worker slot: fifo uses the first */
    uint64_t waiting, waiting_max, waiting_age_max_ns;
    uint64_t pass;
    rt_sim_ceiling slots_ceiling;
    rt_sim_group *classes, *tenants;
    rt_sim_degraded degraded[RT_SIM_DEGRADATIONS];
    rt_sim_layer layers[RT_SIM_LAYERS];
    rt_sim_totals totals;
    rt_histogram *histograms; /* RT_SIM_HISTOGRAMS, then each gate, then each class */
    rt_sim_calls *models;

    rt_sim_task *slowest; /* a heap, the least in front; sorted at the end */
    size_t slowest_count;
    rt_sim_task *failures;
    size_t failures_count;
    rt_sim_task *evaluated; /* one of each evaluation id; steps and outcome are set when it ended */
    rt_sim_trace *traces;   /* one of each trace id */
    rt_sim_span *spans;
    size_t spans_count, spans_room;
    int64_t *timeline;
    uint32_t timeline_columns, timeline_count;
    uint64_t timeline_ns;

    rt_json *json;
    const char *record;
    rt_sim_figures figures;
};

/* ---- rt_sim_check.c ---- */
rt_status rt_sim_check(const rt_sim_scenario *scenario, rt_message *why);

/* ---- rt_sim_slots.c: slots of the pool, and events ---- */
uint32_t rt_sim_slot_take(rt_sim *self, rt_sim_state state); /* RT_SIM_NO_SLOT: self->status is set */
void rt_sim_slot_give(rt_sim *self, uint32_t slot);
void rt_sim_plan(rt_sim *self, uint32_t slot, rt_sim_state state, uint64_t at_ns);
/* a + b, not beyond what a run can last */
static inline uint64_t rt_sim_after(uint64_t a, uint64_t b) {
    const uint64_t far = UINT64_C(1) << 62;
    return b < far - (a < far ? a : far) ? a + b : far;
}

/* ---- rt_sim_arrival.c ---- */
void rt_sim_arrivals_start(rt_sim *self);
void rt_sim_arrive(rt_sim *self, uint32_t slot);
void rt_sim_think(rt_sim *self, uint32_t task); /* closed loop: the successor of a task that has ended */

/* ---- rt_sim_slots.c: worker slots ---- */
void rt_sim_admit(rt_sim *self, uint32_t slot);
void rt_sim_slots_pump(rt_sim *self);
uint64_t rt_sim_queue_age(const rt_sim *self); /* of the oldest waiter, 0 when there is none */

/* ---- rt_sim_task.c ---- */
void rt_sim_task_start(rt_sim *self, uint32_t slot);
void rt_sim_task_end(rt_sim *self, uint32_t slot, uint32_t outcome);
/* After an operation came to `result`: goes on until something is pending or the task has ended. */
void rt_sim_proceed(rt_sim *self, uint32_t slot, uint32_t result);
uint32_t rt_sim_attempt(rt_sim *self, uint32_t slot);
uint64_t rt_sim_draw_of(const rt_sim *self, const rt_sim_slot *slot, rt_sim_purpose purpose);
uint32_t rt_sim_tool_of(const rt_sim *self, const rt_sim_slot *slot); /* of its tool operation */
uint32_t rt_sim_gate_of(const rt_sim *self, const rt_sim_slot *slot);

/* ---- rt_sim_end.c ---- */
void rt_sim_task_summary(const rt_sim *self, const rt_sim_slot *slot, uint32_t outcome, rt_sim_task *out);
void rt_sim_task_count(rt_sim *self, const rt_sim_slot *slot, uint32_t outcome);
void rt_sim_sort_slowest(rt_sim *self);

/* ---- rt_sim_gate.c ---- */
uint32_t rt_sim_gate_enter(rt_sim *self, uint32_t slot);
void rt_sim_gate_pump(rt_sim *self, uint32_t gate);
void rt_sim_gate_wake(rt_sim *self, uint32_t slot);

/* ---- rt_sim_call.c ---- */
rt_sim_limit rt_sim_call_try(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *slot, uint64_t *when_ns);
void rt_sim_call_send(rt_sim *self, uint32_t gate, uint32_t slot);
void rt_sim_call_prefilled(rt_sim *self, uint32_t slot);
void rt_sim_call_end(rt_sim *self, uint32_t slot);

/* ---- rt_sim_retry.c ---- */
void rt_sim_retry_begin(rt_sim *self, rt_sim_slot *slot);
typedef enum rt_sim_verdict { RT_SIM_GIVE_UP, RT_SIM_TRY_NOW, RT_SIM_TRY_LATER } rt_sim_verdict;
rt_sim_verdict rt_sim_try_again(rt_sim *self, uint32_t slot, uint32_t result);

/* ---- rt_sim_degrade.c ---- */
/* The first degradation of this state whose condition holds, or NULL; it is counted for the task. */
const rt_sim_degradation *rt_sim_degrade(rt_sim *self, rt_sim_slot *slot, uint32_t state);

/* ---- rt_sim_cache.c ---- */
uint32_t rt_sim_cache_match(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *slot);
void rt_sim_cache_use(rt_sim *self, uint32_t gate, uint32_t slot);
void rt_sim_cache_drop(rt_sim *self, uint32_t slot);
void rt_sim_cache_clear(rt_sim *self, rt_sim_gate *gate);
void rt_sim_cache_warm(rt_sim *self);

/* ---- rt_sim_trace.c ---- */
uint32_t rt_sim_id_find(const uint32_t *ids, uint32_t count, uint32_t id); /* UINT32_MAX: not there */
void rt_sim_trace_begun(rt_sim *self, const rt_sim_slot *slot);
void rt_sim_trace_asked(rt_sim *self, const rt_sim_slot *slot);
void rt_sim_trace_started(rt_sim *self, const rt_sim_slot *slot);
void rt_sim_trace_span(rt_sim *self, const rt_sim_slot *slot, uint32_t kind, uint32_t outcome);

/* ---- rt_sim_timeline.c ---- */
rt_status rt_sim_timeline_init(rt_sim *self);
void rt_sim_timeline_sample(rt_sim *self, uint32_t slot);
void rt_sim_timeline_write(const rt_sim *self, rt_json *json);

/* ---- rt_sim_record.c, rt_sim_record_parts.c ---- */
rt_status rt_sim_record_write(rt_sim *self);
void rt_sim_write_gates(const rt_sim *self, rt_json *json);
void rt_sim_write_ceilings(const rt_sim *self, rt_json *json);
void rt_sim_write_wide(rt_json *json, const char *key, unsigned __int128 value);
void rt_sim_write_histogram(rt_json *json, const char *key, const rt_histogram *histogram, const char *unit);

static inline rt_sim_link *rt_sim_link_of(const rt_sim *self, const rt_sim_slot *task) {
    return &self->links[task - self->slots];
}

static inline rt_sim_gate *rt_sim_provider_of(const rt_sim *self, uint32_t model) {
    return &self->gates[self->scenario.models[model].provider];
}

#endif
