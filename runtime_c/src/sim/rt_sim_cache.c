/* Prefix caches: each provider keeps the prefixes used last, up to so many tokens. An entry is either a prefix that
 * tasks share (with numbers of its own) or what a task's transcript adds to it (with the task's number). */
#include "rt_sim_state.h"

/* The number of the prefix that the task shares, or RT_SIM_NO_SLOT. */
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
    const uint64_t key = class->prefixes == 1
                             ? 0
                             : rt_sim_draw(scenario->seed, task->task, RT_SIM_DRAW_PREFIX, (rt_sim_place){0});
    return gate->first_prefix + class->first_prefix + (uint32_t)rt_random_scale(key, class->prefixes);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The shared prefix counts only as far as it is cached, and the transcript only behind a shared prefix that is
 * there whole: a prefix ends at the first token that is missing. */
uint32_t rt_sim_cache_match(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    const uint32_t prefix = prefix_slot(self, gate, task);
    const uint32_t wanted = least(task->shared_tokens, task->prompt_tokens);
    const uint32_t shared = prefix == RT_SIM_NO_SLOT ? 0 : least(self->entries[prefix].tokens, wanted);
    const uint32_t needed = prefix == RT_SIM_NO_SLOT ? 0 : wanted;
    const rt_sim_entry *const own = &self->entries[task - self->slots];
    if (shared < needed || own->tokens == 0 || gate != &self->gates[own->gate]) {
        return shared;
    }
    return least(shared + own->tokens, task->prompt_tokens);
}

static void unlink_entry(rt_sim *self, rt_sim_gate *gate, uint32_t slot) {
    rt_sim_entry *const entry = &self->entries[slot];
    if (entry->before == RT_SIM_NO_SLOT) {
        gate->lru_first = entry->after;
    } else {
        self->entries[entry->before].after = entry->after;
    }
    if (entry->after == RT_SIM_NO_SLOT) {
        gate->lru_last = entry->before;
    } else {
        self->entries[entry->after].before = entry->before;
    }
    gate->cache_used -= entry->tokens;
    entry->tokens = 0;
}

static void link_first(rt_sim *self, rt_sim_gate *gate, uint32_t slot, uint32_t tokens) {
    rt_sim_entry *const entry = &self->entries[slot];
    entry->before = RT_SIM_NO_SLOT;
    entry->after = gate->lru_first;
    entry->tokens = tokens & RT_SIM_PROMPT_MAX;
    if (gate->lru_first == RT_SIM_NO_SLOT) {
        gate->lru_last = slot;
    } else {
        self->entries[gate->lru_first].before = slot;
    }
    gate->lru_first = slot;
    gate->cache_used += tokens;
}

static void put(rt_sim *self, uint32_t index, uint32_t slot, uint32_t tokens) {
    rt_sim_gate *const gate = &self->gates[index];
    rt_sim_entry *const entry = &self->entries[slot];
    if (entry->tokens > 0) {
        unlink_entry(self, &self->gates[entry->gate], slot);
    }
    entry->gate = index & 63u;
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
        const uint32_t before = self->entries[prefix].tokens;
        put(self, index, prefix, shared > before ? shared : before);
    }
}

void rt_sim_cache_drop(rt_sim *self, uint32_t slot) {
    if (self->entries[slot].tokens > 0) {
        unlink_entry(self, &self->gates[self->entries[slot].gate], slot);
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
        for (uint32_t prefix = 0; gate->cache_tokens > 0 && prefix < self->scenario.prefixes_count;
             prefix++) {
            const uint32_t tokens = self->scenario.prefix_tokens[prefix];
            if (tokens > 0 && gate->cache_used + tokens <= gate->cache_tokens) {
                put(self, i, gate->first_prefix + prefix, tokens);
            }
        }
    }
}
