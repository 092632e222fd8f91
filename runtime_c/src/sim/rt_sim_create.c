/* Making a simulation out of a scenario, and giving it back. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rt_sim_state.h"

#define LARGE_PAGE ((size_t)2 << 20)
#define MANY_LARGE_PAGES 4u

static void set_up_histogram(rt_histogram *histogram) {
    histogram->min_ns = UINT64_MAX; /* the rest is zero, and stays untouched until something is recorded */
}

static rt_status make_histograms(rt_sim *self) {
    const uint32_t classes = self->scenario.classes_count;
    const size_t count = RT_SIM_HISTOGRAMS + (size_t)self->gates_count + classes;
    self->histograms = rt_allocate_lines(&self->allocator, count, sizeof *self->histograms);
    if (self->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        set_up_histogram(&self->histograms[i]);
    }
    for (uint32_t i = 0; i < self->gates_count; i++) {
        self->gates[i].latency = &self->histograms[RT_SIM_HISTOGRAMS + i];
    }
    for (uint32_t i = 0; i < classes; i++) {
        self->classes[i].duration = &self->histograms[RT_SIM_HISTOGRAMS + self->gates_count + i];
    }
    return RT_OK;
}

static void set_up_gate(rt_sim_gate *gate) {
    rt_sim_line_init(&gate->line);
    gate->wake_ns = UINT64_MAX;
    gate->lru_first = gate->lru_last = RT_SIM_NO_SLOT;
}

static void set_up_provider(rt_sim *self, uint32_t index) {
    const rt_sim_provider *const from = &self->scenario.providers[index];
    rt_sim_gate *const gate = &self->gates[index];
    set_up_gate(gate);
    rt_sim_bucket_init(&gate->tokens, from->tokens_per_min);
    rt_sim_bucket_init(&gate->requests, from->requests_per_min);
    gate->concurrency = from->concurrency;
    gate->overflow = from->overflow;
    gate->retry_after_ns = from->retry_after_ns;
    gate->kv_tokens = from->kv_tokens;
    gate->cache_tokens = from->cache_tokens;
    gate->first_prefix = self->slots_used;
    self->slots_used += gate->cache_tokens > 0 ? self->scenario.prefixes_count : 0;
}

static void set_up_tool(rt_sim *self, uint32_t index) {
    const rt_sim_tool *const from = &self->scenario.tools[index];
    rt_sim_gate *const gate = &self->gates[self->scenario.providers_count + index];
    set_up_gate(gate);
    rt_sim_bucket_init(&gate->tokens, 0);
    rt_sim_bucket_init(&gate->requests, from->rate_per_min);
    gate->concurrency = from->concurrency;
    gate->overflow = from->overflow;
    gate->retry_after_ns = from->retry_after_ns;
}

static void set_up_groups(rt_sim *self) {
    for (uint32_t i = 0; i < RT_SIM_PRIORITIES; i++) {
        rt_sim_line_init(&self->lines[i]);
    }
    for (uint32_t i = 0; i < self->scenario.tenants_count; i++) {
        rt_sim_line_init(&self->tenants[i].line);
        self->tenants[i].stride = (UINT64_C(1) << 40) / self->scenario.tenants[i].weight;
        self->shares_tenants += self->scenario.tenants[i].share;
    }
    for (uint32_t i = 0; i < self->scenario.classes_count; i++) {
        self->shares_classes += self->scenario.classes[i].share;
    }
}

/* One of a thing that there may be none of. */
static bool make(rt_sim *self, void *out, uint64_t count, size_t bytes) {
    void *const memory = count == 0 ? NULL : rt_allocate_array(&self->allocator, count, bytes);
    *(void **)out = memory;
    return count == 0 || memory != NULL;
}

/* Every task of the scenario may be in flight at once; memory is used only for those that are. Wakes that tokens
 * given back have overtaken are the rest. */
static uint64_t slots_wanted(const rt_sim_scenario *scenario) {
    const uint64_t closed = scenario->arrival == RT_SIM_CLOSED ? scenario->in_flight : scenario->tasks;
    const uint64_t tasks = closed < scenario->tasks ? closed : scenario->tasks;
    return tasks + (uint64_t)scenario->providers_count * scenario->prefixes_count + scenario->events_count +
           (1u << 17);
}

/* Tasks are visited in the order of their events, which is none in memory: with large pages the addresses of many
 * are known at once. */
static void *make_large(rt_sim *self, size_t bytes_of_one) {
    char *const memory = rt_allocate_lines(&self->allocator, self->slots_count, bytes_of_one);
    const size_t bytes = (size_t)self->slots_count * bytes_of_one;
    const size_t skipped = memory == NULL ? 0 : LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE;
    if (memory != NULL && bytes >= MANY_LARGE_PAGES * LARGE_PAGE) {
        madvise(memory + skipped, (bytes - skipped) / LARGE_PAGE * LARGE_PAGE,
                MADV_HUGEPAGE); /* or not: no matter */
    }
    return memory;
}

static rt_status make_arrays(rt_sim *self) {
    const rt_sim_scenario *const s = &self->scenario;
    const uint64_t slots = slots_wanted(s);
    if (slots >= RT_SIM_NO_SLOT) {
        return RT_NO_MEMORY;
    }
    self->slots_count = (uint32_t)slots;
    self->gates_count = s->providers_count + s->tools_count;
    self->slots = make_large(self, sizeof *self->slots);
    self->links = make_large(self, sizeof *self->links);
    self->entries = make_large(self, sizeof *self->entries);
    const bool made = self->slots != NULL && self->links != NULL && self->entries != NULL &&
                      make(self, &self->gates, self->gates_count, sizeof *self->gates) &&
                      make(self, &self->classes, s->classes_count, sizeof *self->classes) &&
                      make(self, &self->tenants, s->tenants_count, sizeof *self->tenants) &&
                      make(self, &self->models, s->models_count, sizeof *self->models) &&
                      make(self, &self->slowest, s->slowest_limit, sizeof *self->slowest) &&
                      make(self, &self->failures, s->failed_limit, sizeof *self->failures) &&
                      make(self, &self->evaluated, s->evaluation_count, sizeof *self->evaluated) &&
                      make(self, &self->traces, s->trace_count, sizeof *self->traces);
    return made ? RT_OK : RT_NO_MEMORY;
}

static rt_status build(rt_sim *self, rt_message *why) {
    rt_status status = rt_sim_check(&self->scenario, why);
    if (status != RT_OK) {
        return status;
    }
    status = make_arrays(self);
    if (status == RT_OK) {
        status = make_histograms(self);
    }
    if (status == RT_OK) {
        status = rt_sim_timeline_init(self);
    }
    if (status == RT_OK) {
        status = rt_sim_queue_init(&self->queue, self->links, &self->allocator);
        self->queue.slots = self->slots;
        self->queue.entries = self->entries;
    }
    if (status != RT_OK) {
        return rt_fail(why, status, "there is not enough memory for %llu tasks; lower tasks or the horizon",
                       (unsigned long long)self->scenario.tasks);
    }
    self->free = RT_SIM_NO_SLOT;
    for (uint32_t i = 0; i < self->scenario.providers_count; i++) {
        set_up_provider(self, i);
    }
    for (uint32_t i = 0; i < self->scenario.tools_count; i++) {
        set_up_tool(self, i);
    }
    set_up_groups(self);
    return RT_OK;
}

int rt_sim_create(const rt_sim_scenario *scenario, rt_sim **out, char *message, size_t message_bytes) {
    rt_message why = {""};
    rt_sim *const self = calloc(1, sizeof *self);
    *out = NULL;
    if (self == NULL) {
        snprintf(message, message_bytes, "%s", rt_status_text(RT_NO_MEMORY));
        return RT_NO_MEMORY;
    }
    rt_allocator_init(&self->allocator, 0);
    self->scenario = *scenario;
    const rt_status status = build(self, &why);
    if (status != RT_OK) {
        snprintf(message, message_bytes, "%s", why.text[0] != '\0' ? why.text : rt_status_text(status));
        rt_sim_destroy(self);
        return (int)status;
    }
    *out = self;
    return RT_OK;
}

void rt_sim_destroy(rt_sim *self) {
    if (self == NULL) {
        return;
    }
    rt_allocator *const allocator = &self->allocator;
    if (self->queue.allocator != NULL) {
        rt_sim_queue_reset(&self->queue);
    }
    rt_free_lines(allocator, self->slots);
    rt_free_lines(allocator, self->links);
    rt_free_lines(allocator, self->entries);
    rt_free_lines(allocator, self->histograms);
    void *const arrays[] = {self->gates,    self->classes,   self->tenants, self->models, self->slowest,
                            self->failures, self->evaluated, self->traces,  self->spans,  self->timeline};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        rt_free(allocator, arrays[i]);
    }
    if (self->json != NULL) {
        rt_json_destroy(self->json);
    }
    free(self);
}
