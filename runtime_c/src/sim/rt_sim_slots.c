/* The pool of slots, and the worker slots that tasks wait for. */
#include "rt_sim_state.h"

uint32_t rt_sim_slot_take(rt_sim *self, rt_sim_state state) {
    uint32_t slot = self->free;
    if (slot != RT_SIM_NO_SLOT) {
        self->free = self->links[slot].next;
    } else if (self->slots_used < self->slots_count) {
        slot = self->slots_used++;
    } else {
        self->status = RT_FULL;
        return RT_SIM_NO_SLOT;
    }
    self->slots[slot] = (rt_sim_slot){.state = (unsigned)state & 15u};
    self->links[slot].attempts = 0;
    return slot;
}

void rt_sim_slot_give(rt_sim *self, uint32_t slot) {
    self->slots[slot].state = RT_SIM_STATE_FREE;
    self->links[slot].next = self->free;
    self->free = slot;
}

void rt_sim_plan(rt_sim *self, uint32_t slot, rt_sim_state state, uint64_t at_ns) {
    self->slots[slot].state = (unsigned)state & 15u;
    const rt_status status = rt_sim_queue_push(&self->queue, slot, at_ns);
    if (status != RT_OK) {
        self->status = status;
    }
}

/* ---- worker slots ---- */

static bool slot_is_free(const rt_sim *self) {
    return self->scenario.workers == 0 || self->busy.value < self->scenario.workers;
}

static rt_sim_line *line_of(rt_sim *self, const rt_sim_slot *slot) {
    switch (self->scenario.discipline) {
    case RT_SIM_PRIORITY:
        return &self->lines[self->scenario.tenants[slot->tenant].priority];
    case RT_SIM_FAIR:
        return &self->tenants[slot->tenant].line;
    default:
        return &self->lines[0];
    }
}

/* Stride scheduling: each start of a tenant's task moves it on by 2^40 / weight; the one that is least far is
 * next. One that had nothing to do starts at where the others are, and gets no credit for the time before. */
static rt_sim_line *fairest(rt_sim *self) {
    rt_sim_group *best = NULL;
    for (uint32_t i = 0; i < self->scenario.tenants_count; i++) {
        rt_sim_group *const tenant = &self->tenants[i];
        if (tenant->line.count > 0 && (best == NULL || tenant->pass < best->pass)) {
            best = tenant;
        }
    }
    self->pass = best->pass;
    best->pass += best->stride;
    return &best->line;
}

static rt_sim_line *next_line(rt_sim *self) {
    if (self->scenario.discipline == RT_SIM_FAIR) {
        return fairest(self);
    }
    rt_sim_line *line = self->lines;
    while (line->count == 0) {
        line++;
    }
    return line;
}

static uint64_t head_age(const rt_sim *self, const rt_sim_line *line) {
    return line->count == 0 ? 0 : self->now_ns - self->links[line->head].at_ns;
}

uint64_t rt_sim_queue_age(const rt_sim *self) {
    uint64_t age_ns = 0;
    for (uint32_t i = 0; self->waiting > 0 && i < RT_SIM_PRIORITIES; i++) {
        const uint64_t one = head_age(self, &self->lines[i]);
        age_ns = one > age_ns ? one : age_ns;
    }
    const uint32_t tenants = self->scenario.discipline == RT_SIM_FAIR ? self->scenario.tenants_count : 0;
    for (uint32_t i = 0; self->waiting > 0 && i < tenants; i++) {
        const uint64_t one = head_age(self, &self->tenants[i].line);
        age_ns = one > age_ns ? one : age_ns;
    }
    return age_ns;
}

static void begin(rt_sim *self, uint32_t slot, uint64_t waited_ns) {
    rt_sim_group *const tenant = &self->tenants[self->slots[slot].tenant];
    tenant->wait_sum_ns += waited_ns;
    tenant->wait_max_ns = waited_ns > tenant->wait_max_ns ? waited_ns : tenant->wait_max_ns;
    if (self->slots[slot].task >= self->scenario.warmup_tasks) {
        rt_histogram_record(&self->histograms[RT_SIM_HISTOGRAM_QUEUE], waited_ns);
    }
    rt_sim_area_change(&self->busy, 1, self->now_ns);
    rt_sim_task_start(self, slot);
}

static void put_in_line(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    rt_sim_line *const line = line_of(self, task);
    rt_sim_group *const tenant = &self->tenants[task->tenant];
    if (self->scenario.discipline == RT_SIM_FAIR && line->count == 0 && tenant->pass < self->pass) {
        tenant->pass = self->pass;
    }
    task->state = RT_SIM_STATE_QUEUED;
    self->links[slot].at_ns = self->now_ns;
    rt_sim_line_put(line, self->links, slot);
    rt_sim_ceiling_hit(&self->slots_ceiling, self->now_ns);
    self->waiting++;
    self->waiting_max = self->waiting > self->waiting_max ? self->waiting : self->waiting_max;
}

void rt_sim_admit(rt_sim *self, uint32_t slot) {
    const bool full = self->scenario.queue_limit > 0 && self->waiting >= self->scenario.queue_limit;
    if (self->waiting == 0 && slot_is_free(self)) {
        self->totals.admitted++;
        begin(self, slot, 0);
    } else if (full) {
        self->totals.shed_queue++;
        rt_sim_ceiling_hit(&self->slots_ceiling, self->now_ns);
        rt_sim_task_end(self, slot, RT_SIM_SHED_TASK);
    } else {
        self->totals.admitted++;
        put_in_line(self, slot);
    }
}

void rt_sim_slots_pump(rt_sim *self) {
    while (self->waiting > 0 && slot_is_free(self)) {
        const uint32_t slot = rt_sim_line_take(next_line(self), self->links, self->now_ns);
        const uint64_t waited_ns = self->now_ns - self->links[slot].at_ns;
        self->waiting--;
        self->waiting_age_max_ns =
            waited_ns > self->waiting_age_max_ns ? waited_ns : self->waiting_age_max_ns;
        self->slots_ceiling.waited_ns += waited_ns;
        begin(self, slot, waited_ns);
    }
}
