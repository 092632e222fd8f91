/* When tasks arrive, and what each one is. */
#include "rt_sim_state.h"

static uint64_t draw_at(const rt_sim *self, uint64_t task, rt_sim_purpose purpose) {
    return rt_sim_draw(self->scenario.seed, task, purpose, (rt_sim_place){0});
}

static void plan_arrival(rt_sim *self, uint64_t at_ns, unsigned flags) {
    const rt_sim_scenario *const scenario = &self->scenario;
    if (self->planned == scenario->tasks || (scenario->horizon_ns > 0 && at_ns >= scenario->horizon_ns)) {
        return;
    }
    const uint32_t slot = rt_sim_slot_take(self, RT_SIM_STATE_ARRIVAL);
    if (slot != RT_SIM_NO_SLOT) {
        self->slots[slot].flags = flags & 31u;
        self->planned++;
        self->pending_arrivals++;
        self->last_arrival_ns = at_ns;
        rt_sim_plan(self, slot, RT_SIM_STATE_ARRIVAL, at_ns);
    }
}

static uint64_t times(uint64_t count, uint64_t gap_ns) {
    const unsigned __int128 product = (unsigned __int128)count * gap_ns;
    return product < UINT64_C(1) << 62 ? (uint64_t)product : UINT64_C(1) << 62;
}

/* Open loops: the time of arrival number `planned`, which does not depend on anything that happens. */
static uint64_t next_arrival(const rt_sim *self) {
    const rt_sim_scenario *const scenario = &self->scenario;
    const uint64_t number = self->planned;
    if (scenario->arrival == RT_SIM_RECORDED) {
        return number < scenario->tasks ? scenario->times_ns[number] : 0;
    }
    if (scenario->arrival == RT_SIM_CONSTANT) {
        return times(number, scenario->gap_ns);
    }
    if (scenario->arrival == RT_SIM_BURST) {
        return times(number / scenario->burst_tasks, scenario->gap_ns);
    }
    const rt_sim_place place = {.use = (uint32_t)(number >> 16), .repeat = (uint32_t)(number & 0xffff)};
    const uint64_t key = rt_sim_draw(scenario->seed, UINT64_C(1) << 32, RT_SIM_DRAW_GAP, place);
    return rt_sim_after(self->last_arrival_ns, rt_sim_exponential(key, scenario->gap_ns));
}

void rt_sim_arrivals_start(rt_sim *self) {
    if (self->scenario.arrival != RT_SIM_CLOSED) {
        plan_arrival(self, next_arrival(self), 0);
    } else {
        plan_arrival(self, 0, RT_SIM_FLAG_USER);
    }
}

/* The users of a closed loop come one after another, all at 0: a million events of one time would need memory that
 * nothing needs afterwards. */
static void next_user(rt_sim *self, rt_sim_slot *task) {
    task->flags = 0;
    if (++self->users < self->scenario.in_flight) {
        plan_arrival(self, 0, RT_SIM_FLAG_USER);
    }
}

void rt_sim_think(rt_sim *self, uint32_t task) {
    const uint64_t key = draw_at(self, task, RT_SIM_DRAW_THINK);
    const uint64_t pause_ns = rt_sim_sample(self->scenario.values, &self->scenario.think_ns, key);
    plan_arrival(self, rt_sim_after(self->now_ns, pause_ns), 0);
}

static uint32_t class_by_share(const rt_sim *self, uint64_t key) {
    uint64_t at = rt_random_scale(key, self->shares_classes);
    uint32_t index = 0;
    while (at >= self->scenario.classes[index].share) {
        at -= self->scenario.classes[index++].share;
    }
    return index;
}

static uint32_t tenant_by_share(const rt_sim *self, uint64_t key) {
    uint64_t at = rt_random_scale(key, self->shares_tenants);
    uint32_t index = 0;
    while (at >= self->scenario.tenants[index].share) {
        at -= self->scenario.tenants[index++].share;
    }
    return index;
}

static void draw_identity(rt_sim *self, rt_sim_slot *task) {
    const rt_sim_scenario *const scenario = &self->scenario;
    const uint64_t key = draw_at(self, task->task, RT_SIM_DRAW_ORIGIN);
    uint32_t tenant;
    if (scenario->recorded_count > 0) {
        task->origin = (uint32_t)rt_random_scale(key, scenario->recorded_count);
        tenant = scenario->recorded[task->origin].tenant;
        task->model = scenario->recorded[task->origin].model & 1023u;
    } else {
        task->origin = scenario->classes_count == 1 ? 0 : class_by_share(self, key);
        tenant = scenario->classes[task->origin].tenant;
        task->model = scenario->classes[task->origin].model & 1023u;
        self->classes[task->origin].arrived++;
    }
    if (tenant == UINT32_MAX) {
        tenant = scenario->tenants_count == 1
                     ? 0
                     : tenant_by_share(self, draw_at(self, task->task, RT_SIM_DRAW_TENANT));
    }
    task->tenant = tenant & 1023u;
    self->tenants[tenant].arrived++;
}

void rt_sim_arrive(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    self->pending_arrivals--;
    task->task = (uint32_t)self->totals.arrived++;
    task->arrived_ns = self->now_ns;
    draw_identity(self, task);
    rt_sim_area_change(&self->in_flight, 1, self->now_ns);
    if (self->scenario.arrival != RT_SIM_CLOSED) {
        plan_arrival(self, next_arrival(self), 0);
    } else if ((task->flags & RT_SIM_FLAG_USER) != 0) {
        next_user(self, task);
    }
    if (rt_sim_id_find(self->scenario.trace_ids, self->scenario.trace_count, task->task) != UINT32_MAX) {
        task->flags |= RT_SIM_FLAG_TRACED;
    }
    if (rt_sim_degrade(self, task, RT_SIM_SHED) != NULL) {
        self->totals.shed_degradation++;
        rt_sim_task_end(self, slot, RT_SIM_SHED_TASK);
    } else {
        rt_sim_admit(self, slot);
    }
}
