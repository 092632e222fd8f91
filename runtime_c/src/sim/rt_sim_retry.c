/* Layers of retries, one around the other, with a budget for all of them together. */
#include "rt_sim_state.h"

static bool stands_around(const rt_sim_retry *layer, const rt_sim_slot *task) {
    const uint32_t kind = task->use == RT_SIM_MODEL_OPERATION ? RT_SIM_MODEL_CALLS : RT_SIM_TOOL_CALLS;
    return (layer->operations & kind) != 0;
}

/* A logical operation begins: every layer around it makes its first attempt. */
void rt_sim_retry_begin(rt_sim *self, rt_sim_slot *task) {
    self->totals.logical++;
    task->logical = task->logical == UINT16_MAX ? UINT16_MAX : (uint16_t)(task->logical + 1u);
    for (uint32_t i = 0; i < self->scenario.retries_count; i++) {
        task->tries[i] = 0;
        if (stands_around(&self->scenario.retries[i], task)) {
            self->layers[i].logical++;
            self->layers[i].attempts++;
        }
    }
}

static uint64_t backoff(const rt_sim *self, const rt_sim_slot *task, const rt_sim_retry *layer,
                        uint8_t tries) {
    uint64_t delay_ns = layer->backoff == RT_SIM_BACKOFF_NONE ? 0 : layer->delay_ns;
    if (layer->backoff == RT_SIM_BACKOFF_EXPONENTIAL) {
        const unsigned doublings = tries - 1u;
        delay_ns = doublings > 61 || delay_ns > (UINT64_C(1) << 62) >> doublings ? UINT64_C(1) << 62
                                                                                 : delay_ns << doublings;
    }
    if (layer->cap_ns > 0 && delay_ns > layer->cap_ns) {
        delay_ns = layer->cap_ns;
    }
    return layer->full_jitter ? rt_random_scale(rt_sim_draw_of(self, task, RT_SIM_DRAW_JITTER), delay_ns + 1u)
                              : delay_ns;
}

static bool within_budget(const rt_sim *self) {
    const rt_sim_scenario *const scenario = &self->scenario;
    return scenario->retry_budget_permille == 0 ||
           self->totals.retries * 1000u < self->totals.logical * scenario->retry_budget_permille +
                                              (uint64_t)scenario->retry_budget_reserve * 1000u;
}

/* The layer that tries again: the innermost that does so for this result and has attempts left. */
static uint32_t layer_for(rt_sim *self, const rt_sim_slot *task, uint32_t result) {
    for (uint32_t i = 0; i < self->scenario.retries_count; i++) {
        const rt_sim_retry *const layer = &self->scenario.retries[i];
        if (!stands_around(layer, task) || (layer->on & result) == 0) {
            continue;
        }
        if (task->tries[i] + 1u < layer->attempts) {
            return i;
        }
        self->layers[i].exhausted++;
    }
    return UINT32_MAX;
}

static bool allowed(rt_sim *self, rt_sim_slot *task) {
    if (rt_sim_degrade(self, task, RT_SIM_DROP_RETRY) != NULL) {
        self->totals.dropped_degradation++;
        return false;
    }
    if (!within_budget(self)) {
        self->totals.dropped_budget++;
        return false;
    }
    return true;
}

rt_sim_verdict rt_sim_try_again(rt_sim *self, uint32_t slot, uint32_t result) {
    rt_sim_slot *const task = &self->slots[slot];
    const uint32_t chosen = layer_for(self, task, result);
    if (chosen == UINT32_MAX || !allowed(self, task)) {
        return RT_SIM_GIVE_UP;
    }
    const rt_sim_retry *const layer = &self->scenario.retries[chosen];
    self->totals.retries++;
    task->tries[chosen]++;
    self->layers[chosen].attempts++;
    for (uint32_t i = 0; i < chosen; i++) {
        task->tries[i] = 0;
        if (stands_around(&self->scenario.retries[i], task)) {
            self->layers[i].logical++;
            self->layers[i].attempts++;
        }
    }
    uint64_t delay_ns = backoff(self, task, layer, task->tries[chosen]);
    const uint64_t least_ns = self->gates[rt_sim_gate_of(self, task)].retry_after_ns;
    delay_ns = result == RT_SIM_CALL_429 && delay_ns < least_ns ? least_ns : delay_ns;
    if (delay_ns == 0) {
        return RT_SIM_TRY_NOW;
    }
    rt_sim_plan(self, slot, RT_SIM_STATE_BACKOFF, rt_sim_after(self->now_ns, delay_ns));
    return RT_SIM_TRY_LATER;
}
