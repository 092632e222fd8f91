/* The record of providers, models, tools and of every ceiling. */
#include <stdio.h>

#include "rt_sim_state.h"

#define NAME_BYTES 256

static void write_headroom(rt_json *json, const char *key, const rt_sim_bucket *bucket) {
    if (bucket->per_min == 0) {
        rt_json_null(json, key);
    } else {
        rt_json_uint(json, key, rt_sim_bucket_permille(bucket, bucket->least));
    }
}

static void write_outcomes(rt_json *json, const rt_sim_calls *counts) {
    rt_json_uint(json, "calls", counts->calls);
    rt_json_uint(json, "ok", counts->ok);
    rt_json_uint(json, "errors", counts->errors);
    rt_json_uint(json, "timeouts", counts->timeouts);
    rt_json_uint(json, "throttled_429", counts->throttled);
    rt_json_uint(json, "breaker_rejected", counts->breaker);
}

static void write_line(rt_json *json, const rt_sim_gate *gate) {
    rt_json_uint(json, "in_flight", gate->in_flight);
    rt_json_uint(json, "in_flight_max", gate->in_flight_max);
    rt_json_uint(json, "queue_depth_max", gate->line.count_max);
    rt_json_uint(json, "queue_age_max_ns", gate->line.age_max_ns);
    rt_json_uint(json, "breaker_opened", gate->opened);
}

static void write_tokens(rt_json *json, const rt_sim_calls *counts) {
    rt_json_uint(json, "tokens_input", counts->tokens_input);
    rt_json_uint(json, "tokens_cached", counts->tokens_cached);
    rt_json_uint(json, "tokens_output", counts->tokens_output);
}

/* Money is known only where every model that was used has a price. */
static bool is_priced(const rt_sim *self, uint32_t provider) {
    for (uint32_t i = 0; i < self->scenario.models_count; i++) {
        const rt_sim_model *const model = &self->scenario.models[i];
        if (model->provider == provider && !model->priced && self->models[i].ok > 0) {
            return false;
        }
    }
    return true;
}

static void write_cost(rt_json *json, unsigned __int128 cost, bool known) {
    if (known) {
        rt_sim_write_wide(json, "cost_pusd", cost);
    } else {
        rt_json_null(json, "cost_pusd");
    }
}

static void write_provider(const rt_sim *self, rt_json *json, uint32_t index) {
    const rt_sim_gate *const gate = &self->gates[index];
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "name", self->scenario.providers[index].name);
    write_outcomes(json, &gate->counts);
    rt_json_uint(json, "refused", gate->counts.refused);
    rt_json_uint(json, "preempted", gate->counts.preempted);
    write_tokens(json, &gate->counts);
    rt_json_uint(json, "tokens_wasted", gate->counts.tokens_wasted);
    write_cost(json, gate->counts.cost_pusd, is_priced(self, index));
    write_headroom(json, "tokens_headroom_min_permille", &gate->tokens);
    write_headroom(json, "requests_headroom_min_permille", &gate->requests);
    write_line(json, gate);
    rt_json_uint(json, "kv_peak", gate->kv_peak);
    rt_json_uint(json, "cache_evictions", gate->evictions);
    rt_sim_write_histogram(json, "latency", gate->latency, "ns");
    rt_json_object_end(json);
}

static void write_model(const rt_sim *self, rt_json *json, uint32_t index) {
    const rt_sim_calls *const counts = &self->models[index];
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "name", self->scenario.models[index].name);
    rt_json_uint(json, "calls", counts->calls);
    rt_json_uint(json, "ok", counts->ok);
    write_tokens(json, counts);
    write_cost(json, counts->cost_pusd, self->scenario.models[index].priced || counts->ok == 0);
    rt_json_object_end(json);
}

static void write_tool(const rt_sim *self, rt_json *json, uint32_t index) {
    const rt_sim_gate *const gate = &self->gates[self->scenario.providers_count + index];
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "name", self->scenario.tools[index].name);
    write_outcomes(json, &gate->counts);
    rt_json_bool(json, "write", self->scenario.tools[index].write != 0);
    write_headroom(json, "headroom_min_permille", &gate->requests);
    write_line(json, gate);
    rt_sim_write_histogram(json, "latency", gate->latency, "ns");
    rt_json_object_end(json);
}

void rt_sim_write_gates(const rt_sim *self, rt_json *json) {
    rt_json_array_begin(json, "providers");
    for (uint32_t i = 0; i < self->scenario.providers_count; i++) {
        write_provider(self, json, i);
    }
    rt_json_array_end(json);
    rt_json_array_begin(json, "models");
    for (uint32_t i = 0; i < self->scenario.models_count; i++) {
        write_model(self, json, i);
    }
    rt_json_array_end(json);
    rt_json_array_begin(json, "tools");
    for (uint32_t i = 0; i < self->scenario.tools_count; i++) {
        write_tool(self, json, i);
    }
    rt_json_array_end(json);
}

/* ---- ceilings ---- */

typedef struct first_hit {
    char name[NAME_BYTES];
    uint64_t at_ns;
    bool found;
} first_hit;

static void write_ceiling(rt_json *json, const char *name, const rt_sim_ceiling *ceiling, first_hit *first) {
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "name", name);
    rt_json_uint(json, "hits", ceiling->hits);
    if (ceiling->hits == 0) {
        rt_json_null(json, "first_hit_ns");
    } else {
        rt_json_uint(json, "first_hit_ns", ceiling->first_ns);
        if (!first->found || ceiling->first_ns < first->at_ns) {
            first->found = true;
            first->at_ns = ceiling->first_ns;
            snprintf(first->name, sizeof first->name, "%s", name);
        }
    }
    rt_sim_write_wide(json, "waited_ns", ceiling->waited_ns);
    rt_json_object_end(json);
}

static void write_gate_ceilings(const rt_sim *self, rt_json *json, uint32_t index, first_hit *first) {
    static const char *const of_provider[RT_SIM_LIMITS] = {"tokens", "requests", "concurrency", "kv"};
    static const char *const of_tool[RT_SIM_LIMITS] = {NULL, "rate", "concurrency", NULL};
    const uint32_t providers = self->scenario.providers_count;
    const bool is_tool = index >= providers;
    const char *const name =
        is_tool ? self->scenario.tools[index - providers].name : self->scenario.providers[index].name;
    for (uint32_t limit = 0; limit < RT_SIM_LIMITS; limit++) {
        const char *const what = is_tool ? of_tool[limit] : of_provider[limit];
        char text[NAME_BYTES];
        if (what != NULL) {
            snprintf(text, sizeof text, "%s:%s:%s", is_tool ? "tool" : "provider", name, what);
            write_ceiling(json, text, &self->gates[index].ceilings[limit], first);
        }
    }
}

void rt_sim_write_ceilings(const rt_sim *self, rt_json *json) {
    first_hit first = {.found = false};
    rt_json_array_begin(json, "ceilings");
    write_ceiling(json, "slots", &self->slots_ceiling, &first);
    for (uint32_t i = 0; i < self->gates_count; i++) {
        write_gate_ceilings(self, json, i, &first);
    }
    rt_json_array_end(json);
    if (first.found) {
        rt_json_string(json, "first_ceiling", first.name);
    } else {
        rt_json_null(json, "first_ceiling");
    }
}
