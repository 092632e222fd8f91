/* A scenario to start from: one provider, model, tool, tenant and class, without any limit. A task has `steps`
 * steps; a model call takes 1 s, a tool call 2 s; the prompt is 100 tokens and grows by 10 (output) + 5 (result) a
 * step. */
#ifndef SIM_FIXTURE_H
#define SIM_FIXTURE_H

#include <stdlib.h>

#include "rt_sim_state.h"

#include "check.h"

#define SECOND UINT64_C(1000000000)
#define CERTAIN (UINT64_C(1) << 32)

enum {
    VALUE_STEPS,
    VALUE_SYSTEM,
    VALUE_TOOLS,
    VALUE_DOCUMENT,
    VALUE_USER,
    VALUE_OUTPUT,
    VALUE_LATENCY,
    VALUE_RESULT,
    VALUE_THINK,
    VALUES
};

typedef struct fixture {
    rt_sim_scenario scenario;
    rt_sim_tenant tenants[4];
    rt_sim_provider providers[2];
    rt_sim_model models[2];
    rt_sim_tool tools[2];
    rt_sim_class classes[4];
    rt_sim_tool_use uses[2];
    rt_sim_retry retries[3];
    rt_sim_degradation degradations[4];
    rt_sim_event events[4];
    uint64_t values[64];
    uint32_t prefix_tokens[4];
} fixture;

static inline rt_sim_distribution one(uint32_t value) {
    return (rt_sim_distribution){RT_SIM_SAMPLES, value, 1};
}

static inline void fixture_init(fixture *f) {
    static const uint64_t values[VALUES] = {3, 40, 20, 30, 10, 10, 2 * SECOND, 5, 0};
    memset(f, 0, sizeof *f);
    memcpy(f->values, values, sizeof values);
    for (uint32_t i = 0; i < 4; i++) {
        f->tenants[i] = (rt_sim_tenant){"tenant", 1, 0, 1};
        f->classes[i] = (rt_sim_class){.name = "class",
                                       .share = 1,
                                       .steps = one(VALUE_STEPS),
                                       .system_tokens = one(VALUE_SYSTEM),
                                       .tools_tokens = one(VALUE_TOOLS),
                                       .document_tokens = one(VALUE_DOCUMENT),
                                       .user_tokens = one(VALUE_USER),
                                       .output_tokens = one(VALUE_OUTPUT),
                                       .tool_uses = 1,
                                       .success = CERTAIN};
    }
    for (uint32_t i = 0; i < 2; i++) {
        f->providers[i] = (rt_sim_provider){.name = "provider"};
        f->models[i] = (rt_sim_model){.name = "model",
                                      .base_ns = SECOND,
                                      .priced = 1,
                                      .input_pusd = 1000000,
                                      .cached_pusd = 100000,
                                      .output_pusd = 5000000};
        f->tools[i] = (rt_sim_tool){
            .name = "tool", .latency_ns = one(VALUE_LATENCY), .result_tokens = one(VALUE_RESULT)};
        f->uses[i] = (rt_sim_tool_use){i, 1000};
    }
    f->scenario = (rt_sim_scenario){.seed = 1,
                                    .tasks = 1,
                                    .deadline_ns = UINT64_C(1) << 50,
                                    .arrival = RT_SIM_CONSTANT,
                                    .gap_ns = SECOND,
                                    .think_ns = one(VALUE_THINK),
                                    .tenants = f->tenants,
                                    .tenants_count = 1,
                                    .providers = f->providers,
                                    .providers_count = 1,
                                    .models = f->models,
                                    .models_count = 1,
                                    .tools = f->tools,
                                    .tools_count = 1,
                                    .classes = f->classes,
                                    .classes_count = 1,
                                    .tool_uses = f->uses,
                                    .tool_uses_count = 1,
                                    .values = f->values,
                                    .values_count = 64,
                                    .retries = f->retries,
                                    .degradations = f->degradations,
                                    .events = f->events,
                                    .prefix_tokens = f->prefix_tokens,
                                    .prefixes_count = 4,
                                    .slowest_limit = 1024,
                                    .failed_limit = 1024};
}

/* NULL (and a failed check) when it does not run. */
static inline rt_sim *run_scenario(const fixture *f) {
    char message[RT_SIM_MESSAGE_BYTES] = "";
    rt_sim *sim = NULL;
    CHECK_UINT(RT_OK, rt_sim_create(&f->scenario, &sim, message, sizeof message));
    CHECK_TEXT("", message);
    if (sim != NULL) {
        CHECK_UINT(RT_OK, rt_sim_execute(sim, message, sizeof message));
        CHECK_TEXT("", message);
        CHECK(rt_sim_record(sim) != NULL);
    }
    return sim;
}

/* What must be so in every run. */
static inline void check_sums(const rt_sim *sim) {
    const rt_sim_totals *const t = &sim->totals;
    unsigned __int128 input = 0, cached = 0, output = 0, cost = 0;
    uint64_t calls = 0;
    CHECK_UINT(t->arrived, t->finished + t->failed + t->shed + t->unfinished);
    CHECK(sim->in_flight.sum == t->sojourn_ns);
    CHECK_UINT(t->unfinished, sim->in_flight.value);
    for (uint32_t i = 0; i < sim->gates_count; i++) {
        const rt_sim_gate *const gate = &sim->gates[i];
        const rt_sim_calls *const c = &gate->counts;
        uint64_t prefilled = 0; /* a preempted call waits again: it is on its way and not in flight */
        for (uint32_t slot = gate->line.head, k = 0; k < gate->line.count;
             slot = sim->links[slot].next, k++) {
            prefilled += (sim->slots[slot].flags & RT_SIM_FLAG_KV_WHOLE) != 0;
        }
        CHECK_UINT(c->calls, c->ok + c->errors + c->timeouts + c->throttled + gate->in_flight + prefilled);
        CHECK(gate->concurrency == 0 || gate->in_flight_max <= gate->concurrency);
        CHECK(gate->kv_tokens == 0 || gate->kv_peak <= gate->kv_tokens);
        CHECK(gate->cache_used <= gate->cache_tokens);
        input += c->tokens_input;
        cached += c->tokens_cached;
        output += c->tokens_output;
        cost += c->cost_pusd;
        calls += c->calls;
    }
    CHECK(input == t->tokens_input && cached == t->tokens_cached && output == t->tokens_output);
    CHECK(cost == t->cost_pusd);
    CHECK_UINT(calls, t->task_attempts);
    CHECK_UINT(calls, t->attempts);
}

#endif
