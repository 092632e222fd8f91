/* The public interface of the simulator (see simulator.h), and the loop over its events. */
#include <stdio.h>
#include <time.h>

#include "rt_build_values.h"
#include "rt_memory.h"
#include "rt_sim_state.h"

#define INTERRUPT_EVERY 4096u

const char *rt_sim_digest(void) { return RT_BUILD_SIMULATOR_DIGEST; }

/* ---- the run ---- */

static void begin_event(rt_sim *self, const rt_sim_event *event) {
    const uint32_t first = event->dependency == UINT32_MAX ? 0 : event->dependency;
    const uint32_t last =
        event->dependency == UINT32_MAX ? self->scenario.providers_count - 1u : event->dependency;
    if (event->kind == RT_SIM_INVALIDATE_CACHES) {
        for (uint32_t i = first; i <= last; i++) {
            rt_sim_cache_clear(self, &self->gates[i]);
        }
        return;
    }
    const uint32_t tools = event->kind == RT_SIM_OUTAGE_TOOL ? self->scenario.providers_count : 0;
    rt_sim_gate *const gate = &self->gates[tools + event->dependency];
    const uint64_t until_ns = rt_sim_after(self->now_ns, event->for_ns);
    gate->down_until_ns = until_ns > gate->down_until_ns ? until_ns : gate->down_until_ns;
}

static void start(rt_sim *self) {
    if (self->scenario.warm) {
        rt_sim_cache_warm(self);
    }
    for (uint32_t i = 0; i < self->scenario.events_count; i++) {
        const uint32_t slot = rt_sim_slot_take(self, RT_SIM_STATE_EVENT);
        self->slots[slot].origin = i;
        rt_sim_plan(self, slot, RT_SIM_STATE_EVENT, self->scenario.events[i].at_ns);
    }
    if (self->timeline != NULL) {
        rt_sim_plan(self, rt_sim_slot_take(self, RT_SIM_STATE_TIMELINE), RT_SIM_STATE_TIMELINE, 0);
    }
    rt_sim_arrivals_start(self);
}

static void dispatch(rt_sim *self, uint32_t slot) {
    const uint32_t state = self->slots[slot].state;
    self->events += state == RT_SIM_STATE_ARRIVAL || state >= RT_SIM_STATE_PREFILL;
    switch (state) {
    case RT_SIM_STATE_ARRIVAL:
        rt_sim_arrive(self, slot);
        break;
    case RT_SIM_STATE_PREFILL:
        rt_sim_call_prefilled(self, slot);
        break;
    case RT_SIM_STATE_CALL:
        rt_sim_call_end(self, slot);
        break;
    case RT_SIM_STATE_BACKOFF:
        rt_sim_proceed(self, slot, rt_sim_attempt(self, slot));
        break;
    case RT_SIM_STATE_WAKE:
        rt_sim_gate_wake(self, slot);
        break;
    case RT_SIM_STATE_TIMELINE:
        rt_sim_timeline_sample(self, slot);
        break;
    default:
        begin_event(self, &self->scenario.events[self->slots[slot].origin]);
        rt_sim_slot_give(self, slot);
    }
    if (self->waiting > 0) {
        rt_sim_slots_pump(self);
    }
}

static bool lives(const rt_sim *self) { return self->in_flight.value + self->pending_arrivals > 0; }

static const char *run(rt_sim *self) {
    start(self);
    while (self->status == RT_OK && lives(self)) {
        const uint32_t slot = rt_sim_queue_pop(&self->queue, &self->status);
        if (slot == RT_SIM_NO_SLOT) {
            break;
        }
        if (self->links[slot].at_ns > self->scenario.deadline_ns) {
            self->now_ns = self->scenario.deadline_ns;
            return "overloaded";
        }
        self->now_ns = self->links[slot].at_ns;
        self->pops++;
        dispatch(self, slot);
        if (self->pops % INTERRUPT_EVERY == 0 &&
            atomic_load_explicit(&self->interrupted, memory_order_relaxed)) {
            return "killed";
        }
    }
    return "completed";
}

/* ---- its end ---- */

static void age_of_line(const rt_sim *self, rt_sim_line *line, rt_sim_ceiling *ceiling) {
    for (uint32_t slot = line->head; line->count > 0 && slot != RT_SIM_NO_SLOT;
         slot = self->links[slot].next) {
        const uint64_t age_ns = self->now_ns - self->links[slot].at_ns;
        line->age_max_ns = age_ns > line->age_max_ns ? age_ns : line->age_max_ns;
        ceiling->waited_ns += age_ns;
    }
}

/* Those that still wait have waited, too. */
static void count_waiters(rt_sim *self) {
    const uint64_t age_ns = rt_sim_queue_age(self);
    self->waiting_age_max_ns = age_ns > self->waiting_age_max_ns ? age_ns : self->waiting_age_max_ns;
    for (uint32_t i = 0; i < RT_SIM_PRIORITIES; i++) {
        age_of_line(self, &self->lines[i], &self->slots_ceiling);
    }
    for (uint32_t i = 0; i < self->scenario.tenants_count; i++) {
        age_of_line(self, &self->tenants[i].line, &self->slots_ceiling);
    }
    for (uint32_t i = 0; i < self->gates_count; i++) {
        rt_sim_gate *const gate = &self->gates[i];
        age_of_line(self, &gate->line, &gate->ceilings[gate->line.count > 0 ? gate->cause : 0]);
    }
}

static void finish(rt_sim *self) {
    rt_sim_area_change(&self->in_flight, 0, self->now_ns);
    rt_sim_area_change(&self->busy, 0, self->now_ns);
    count_waiters(self);
    for (uint32_t slot = 0; self->in_flight.value > 0 && slot < self->slots_used; slot++) {
        if (self->slots[slot].state >= RT_SIM_STATE_QUEUED) {
            rt_sim_task_count(self, &self->slots[slot], RT_SIM_UNFINISHED);
        }
    }
    rt_sim_sort_slowest(self);
}

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t rss_anon(void) {
    rt_memory_usage usage;
    return rt_memory_read("", &usage) == RT_OK ? usage.rss_anon_bytes : 0;
}

static int fail(rt_sim *self, char *message, size_t message_bytes) {
    const char *text = rt_status_text(self->status);
    if (self->status == RT_TOO_SMALL) {
        text = "a task used 2^32 tokens or more; give its class fewer steps or shorter prompts";
    } else if (self->status == RT_FULL) {
        text = "more wakes than the simulator has room for were planned at once; set reserve_max_tokens to 0";
    }
    snprintf(message, message_bytes, "%s", text);
    return (int)self->status;
}

int rt_sim_execute(rt_sim *self, char *message, size_t message_bytes) {
    if (self->executed) {
        snprintf(message, message_bytes, "a simulation runs once; create another one");
        return RT_BUSY;
    }
    self->executed = 1;
    const uint64_t rss_before = rss_anon();
    const uint64_t cpu_before = cpu_ns();
    const char *const outcome = run(self);
    const uint64_t cpu_after = cpu_ns();
    const uint64_t rss_after = rss_anon();
    if (self->status == RT_OK) {
        self->outcome = outcome;
        finish(self);
        self->status = rt_sim_record_write(self);
    }
    self->figures =
        (rt_sim_figures){.events = self->events,
                         .pops = self->pops,
                         .in_flight_peak = self->in_flight.value_max,
                         .cpu_ns = cpu_after - cpu_before,
                         .rss_anon_growth_bytes = rss_after > rss_before ? rss_after - rss_before : 0,
                         .bytes_of_a_task = sizeof(rt_sim_slot) + sizeof(rt_sim_link) + sizeof(rt_sim_entry),
                         .virtual_ns = self->now_ns};
    if (self->status != RT_OK) {
        self->outcome = NULL;
        return fail(self, message, message_bytes);
    }
    return RT_OK;
}

/* ---- what it leaves ---- */

void rt_sim_interrupt(rt_sim *self) { atomic_store_explicit(&self->interrupted, 1, memory_order_relaxed); }

const char *rt_sim_record(const rt_sim *self) { return self->record; }

const char *rt_sim_outcome(const rt_sim *self) { return self->outcome; }

const rt_sim_task *rt_sim_slowest(const rt_sim *self, size_t *count) {
    *count = self->slowest_count;
    return self->slowest;
}

const rt_sim_task *rt_sim_failures(const rt_sim *self, size_t *count) {
    *count = self->failures_count;
    return self->failures;
}

const rt_sim_span *rt_sim_spans(const rt_sim *self, size_t *count) {
    *count = self->spans_count;
    return self->spans;
}

void rt_sim_figures_read(const rt_sim *self, rt_sim_figures *out) { *out = self->figures; }
