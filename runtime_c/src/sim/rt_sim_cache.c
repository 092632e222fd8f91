/* Prefix caches: each provider keeps the prefixes used last, up to so many tokens. An entry is either a prefix that
 * tasks share (in slots of its own) or what a task's transcript adds to it (in the task's slot). */
#include "rt_sim_state.h"

/* The slot of the prefix that the task shares, or RT_SIM_NO_SLOT. */
static uint32_t prefix_slot(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    const rt_sim_scenario *const scenario = &self->scenario;
    if (scenario->recorded_count > 0) {
        const uint32_t prefix = scenario->recorded[task->origin].prefix;
        return prefix == UINT32_MAX ? RT_SIM_NO_SLOT : gate->first_prefix + prefix;
    }
    const rt_sim_class *const class = &scenario->classes[task->origin];
    if (class->prefixes == 0) {
        return RT_SIM_NO_SLOT;
    }
    const uint64_t key =
        class->prefixes == 1 ? 0 : rt_sim_draw(scenario->seed, task->task, RT_SIM_DRAW_PREFIX, (rt_sim_place){0});
    return gate->first_prefix + class->first_prefix + (uint32_t)rt_random_scale(key, class->prefixes);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The shared prefix counts only as far as it is cached, and the transcript only behind a shared prefix that is there
 * whole: a prefix ends at the first token that is missing. */
uint32_t rt_sim_cache_match(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    const uint32_t prefix = prefix_slot(self, gate, task);
    const uint32_t wanted = least(task->shared_tokens, task->prompt_tokens);
    const uint32_t shared = prefix == RT_SIM_NO_SLOT ? 0 : least(self->slots[prefix].lru_tokens, wanted);
    const uint32_t needed = prefix == RT_SIM_NO_SLOT ? 0 : wanted;
    if (shared < needed || task->lru_tokens == 0 || gate != &self->gates[task->lru_gate]) {
        return shared;
    }
    return least(shared + task->lru_tokens, task->prompt_tokens);
}

static void unlink_entry(rt_sim *self, rt_sim_gate *gate, uint32_t slot) {
    rt_sim_slot *const entry = &self->slots[slot];
    if (entry->lru_before == RT_SIM_NO_SLOT) {
        gate->lru_first = entry->lru_after;
    } else {
        self->slots[entry->lru_before].lru_after = entry->lru_after;
    }
    if (entry->lru_after == RT_SIM_NO_SLOT) {
        gate->lru_last = entry->lru_before;
    } else {
        self->slots[entry->lru_after].lru_before = entry->lru_before;
    }
    gate->cache_used -= entry->lru_tokens;
    entry->lru_tokens = 0;
}

static void link_first(rt_sim *self, rt_sim_gate *gate, uint32_t slot, uint32_t tokens) {
    rt_sim_slot *const entry = &self->slots[slot];
    entry->lru_before = RT_SIM_NO_SLOT;
    entry->lru_after = gate->lru_first;
    entry->lru_tokens = tokens;
    if (gate->lru_first == RT_SIM_NO_SLOT) {
        gate->lru_last = slot;
    } else {
        self->slots[gate->lru_first].lru_before = slot;
    }
    gate->lru_first = slot;
    gate->cache_used += tokens;
}

static void put(rt_sim *self, uint32_t index, uint32_t slot, uint32_t tokens) {
    rt_sim_gate *const gate = &self->gates[index];
    rt_sim_slot *const entry = &self->slots[slot];
    if (entry->lru_tokens > 0) {
        unlink_entry(self, &self->gates[entry->lru_gate], slot);
    }
    entry->lru_gate = (uint8_t)index;
    if (tokens > 0) {
        link_first(self, gate, slot, tokens);
    }
    while (gate->cache_used > gate->cache_tokens) {
        gate->evictions++;
        unlink_entry(self, gate, gate->lru_last);
    }
}

void rt_sim_cache_use(rt_sim *self, uint32_t index, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    const uint32_t prefix = prefix_slot(self, &self->gates[index], task);
    const uint32_t shared = prefix == RT_SIM_NO_SLOT ? 0 : least(task->shared_tokens, task->prompt_tokens);
    put(self, index, slot, task->prompt_tokens - shared);
    if (shared > 0) {
        const uint32_t before = self->slots[prefix].lru_tokens;
        put(self, index, prefix, shared > before ? shared : before);
    }
}

void rt_sim_cache_drop(rt_sim *self, uint32_t slot) {
    if (self->slots[slot].lru_tokens > 0) {
        unlink_entry(self, &self->gates[self->slots[slot].lru_gate], slot);
    }
}

void rt_sim_cache_clear(rt_sim *self, rt_sim_gate *gate) {
    while (gate->lru_first != RT_SIM_NO_SLOT) {
        unlink_entry(self, gate, gate->lru_first);
    }
}

void rt_sim_cache_warm(rt_sim *self) {
    for (uint32_t i = 0; i < self->scenario.providers_count; i++) {
        rt_sim_gate *const gate = &self->gates[i];
        for (uint32_t prefix = 0; gate->cache_tokens > 0 && prefix < self->scenario.prefixes_count; prefix++) {
            const uint32_t tokens = self->scenario.prefix_tokens[prefix];
            if (tokens > 0 && gate->cache_used + tokens <= gate->cache_tokens) {
                put(self, i, gate->first_prefix + prefix, tokens);
            }
        }
    }
}
