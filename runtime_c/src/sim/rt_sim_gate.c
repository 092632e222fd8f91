/* The line of a provider or tool. Nobody polls: whoever cannot go waits in it, and it is looked at again when a
 * call ends or at the instant at which its bucket holds what the head of the line needs. */
#include "rt_sim_state.h"

static void plan_wake(rt_sim *self, uint32_t index, uint64_t when_ns) {
    rt_sim_gate *const gate = &self->gates[index];
    if (when_ns >= gate->wake_ns) {
        return;
    }
    const uint32_t slot = rt_sim_slot_take(self, RT_SIM_STATE_WAKE);
    if (slot != RT_SIM_NO_SLOT) {
        gate->wake_ns = when_ns;
        self->slots[slot].origin = index;
        rt_sim_plan(self, slot, RT_SIM_STATE_WAKE, when_ns);
    }
}

static void head_waits(rt_sim *self, uint32_t index, rt_sim_limit limit, uint64_t when_ns) {
    self->gates[index].cause = limit;
    if (limit == RT_SIM_LIMIT_TOKENS || limit == RT_SIM_LIMIT_REQUESTS) {
        plan_wake(self, index, when_ns);
    }
}

static uint32_t refuse(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *task, uint32_t kind) {
    gate->counts.refused++;
    rt_sim_trace_span(self, task, kind, RT_SIM_CALL_REFUSED);
    return RT_SIM_CALL_REFUSED;
}

uint32_t rt_sim_gate_enter(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    const uint32_t index = rt_sim_gate_of(self, task);
    rt_sim_gate *const gate = &self->gates[index];
    const uint32_t kind = task->use == RT_SIM_MODEL_OPERATION ? RT_SIM_SPAN_MODEL : RT_SIM_SPAN_TOOL;
    uint64_t when_ns = 0;
    const rt_sim_limit limit = rt_sim_call_try(self, gate, task, &when_ns);
    self->links[slot].at_ns = self->now_ns;
    if (limit == RT_SIM_LIMIT_NEVER) {
        return refuse(self, gate, task, kind);
    }
    if (limit == RT_SIM_LIMIT_NONE && gate->line.count == 0) {
        rt_sim_call_send(self, index, slot);
        return RT_SIM_PENDING;
    }
    rt_sim_ceiling_hit(&gate->ceilings[limit == RT_SIM_LIMIT_NONE ? gate->cause : limit], self->now_ns);
    if (gate->overflow == RT_SIM_REJECT && limit != RT_SIM_LIMIT_NONE && limit != RT_SIM_LIMIT_KV) {
        gate->counts.calls++;
        gate->counts.throttled++;
        self->links[slot].attempts++;
        self->totals.attempts++;
        rt_sim_trace_span(self, task, kind, RT_SIM_CALL_429);
        return RT_SIM_CALL_429;
    }
    task->state = RT_SIM_STATE_LINE;
    rt_sim_line_put(&gate->line, self->links, slot);
    if (gate->line.count == 1) {
        head_waits(self, index, limit, when_ns);
    }
    return RT_SIM_PENDING;
}

void rt_sim_gate_pump(rt_sim *self, uint32_t index) {
    rt_sim_gate *const gate = &self->gates[index];
    while (gate->line.count > 0 && self->status == RT_OK) {
        const uint32_t slot = gate->line.head;
        rt_sim_slot *const task = &self->slots[slot];
        uint64_t when_ns = 0;
        const rt_sim_limit limit = rt_sim_call_try(self, gate, task, &when_ns);
        if (limit < RT_SIM_LIMITS) {
            head_waits(self, index, limit, when_ns);
            return;
        }
        rt_sim_line_take(&gate->line, self->links, self->now_ns);
        gate->ceilings[gate->cause].waited_ns += self->now_ns - self->links[slot].at_ns;
        if (limit == RT_SIM_LIMIT_NONE) {
            rt_sim_call_send(self, index, slot);
        } else { /* what was cached when it got in line is so no longer, and without it the call is too large */
            const bool is_model = task->use == RT_SIM_MODEL_OPERATION;
            rt_sim_proceed(self, slot,
                           refuse(self, gate, task, is_model ? RT_SIM_SPAN_MODEL : RT_SIM_SPAN_TOOL));
        }
    }
}

void rt_sim_gate_wake(rt_sim *self, uint32_t slot) {
    const uint32_t index = self->slots[slot].origin;
    rt_sim_gate *const gate = &self->gates[index];
    const uint64_t waiting = gate->line.count;
    rt_sim_slot_give(self, slot);
    if (gate->wake_ns != self->now_ns) {
        return; /* tokens that were given back made an earlier one */
    }
    gate->wake_ns = UINT64_MAX;
    rt_sim_gate_pump(self, index);
    self->events += gate->line.count < waiting;
}
