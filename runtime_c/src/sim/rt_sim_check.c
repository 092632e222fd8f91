/* Whether a scenario holds together: the caller has checked what it means, this checks what would break. */
#include "rt_sim_state.h"

#define CERTAIN (UINT64_C(1) << 32)
#define LONGEST_NS (UINT64_C(1) << 53)
#define MOST_TOKENS (UINT64_C(1) << 26) /* of one drawn value */

/* Checks read as a list: the first that does not hold is named. */
#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            return rt_fail(why, RT_INVALID, __VA_ARGS__);                                                    \
        }                                                                                                    \
    } while (0)

static rt_status check_distribution(const rt_sim_scenario *scenario, const rt_sim_distribution *of,
                                    uint64_t most, const char *name, rt_message *why) {
    const bool weighted = of->kind == RT_SIM_WEIGHTED;
    const uint64_t values = weighted ? 2 * (uint64_t)of->count : of->count;
    REQUIRE(of->kind <= RT_SIM_WEIGHTED, "%s: kind %u is no distribution", name, of->kind);
    REQUIRE(of->count >= (of->kind == RT_SIM_QUANTILES ? 2u : 1u), "%s: too few values", name);
    REQUIRE(of->first + values <= scenario->values_count, "%s: its values are beyond values_count", name);
    const uint64_t *const value = scenario->values + of->first;
    most = of->kind == RT_SIM_EXPONENTIAL ? most / 64 : most; /* no draw is above 64 means */
    for (uint32_t i = 0; i < of->count; i++) {
        REQUIRE(value[i] <= most, "%s: value %u is above %llu", name, i, (unsigned long long)most);
        REQUIRE(of->kind != RT_SIM_QUANTILES || i == 0 || value[i] >= value[i - 1],
                "%s: value %u is below the one before", name, i);
        REQUIRE(!weighted || i == 0 || value[of->count + i] >= value[of->count + i - 1],
                "%s: threshold %u is below the one before", name, i);
    }
    REQUIRE(!weighted || value[2 * (size_t)of->count - 1] == CERTAIN, "%s: the last threshold is not 2^32",
            name);
    return RT_OK;
}

static rt_status check_run(const rt_sim_scenario *s, rt_message *why) {
    REQUIRE(s->tasks >= 1 && s->tasks <= UINT64_C(1) << 31, "tasks: choose 1 to 2^31");
    REQUIRE(s->deadline_ns >= 1 && s->deadline_ns <= LONGEST_NS, "deadline_ns: choose 1 to 2^53");
    REQUIRE(s->arrival <= RT_SIM_CLOSED, "arrival: %u is no process", s->arrival);
    REQUIRE(s->gap_ns <= LONGEST_NS, "gap_ns: choose at most 2^53");
    REQUIRE(s->arrival > RT_SIM_CONSTANT || s->gap_ns > 0, "gap_ns: choose 1 or more");
    REQUIRE(s->arrival != RT_SIM_BURST || s->burst_tasks > 0, "burst_tasks: choose 1 or more");
    REQUIRE(s->arrival != RT_SIM_CLOSED || s->in_flight > 0, "in_flight: choose 1 or more");
    REQUIRE(s->arrival != RT_SIM_RECORDED || s->times_ns != NULL, "times_ns: give one for each task");
    for (uint64_t i = 1; s->arrival == RT_SIM_RECORDED && i < s->tasks; i++) {
        REQUIRE(s->times_ns[i] >= s->times_ns[i - 1], "times_ns[%llu] is before the one before",
                (unsigned long long)i);
    }
    REQUIRE(s->discipline <= RT_SIM_FAIR, "discipline: %u is none", s->discipline);
    REQUIRE(s->timeline_ns == 0 || (s->timeline_rows >= 2 && s->timeline_rows <= 65536),
            "timeline_rows: choose 2 to 65536");
    for (uint32_t i = 1; i < s->evaluation_count; i++) {
        REQUIRE(s->evaluation_ids[i] > s->evaluation_ids[i - 1], "evaluation_ids must ascend");
    }
    for (uint32_t i = 1; i < s->trace_count; i++) {
        REQUIRE(s->trace_ids[i] > s->trace_ids[i - 1], "trace_ids must ascend");
    }
    return s->arrival == RT_SIM_CLOSED ? check_distribution(s, &s->think_ns, LONGEST_NS, "think_ns", why)
                                       : RT_OK;
}

static rt_status check_tenants(const rt_sim_scenario *s, rt_message *why) {
    uint64_t shares = 0;
    REQUIRE(s->tenants_count >= 1 && s->tenants_count <= 1024, "tenants: give 1 to 1024");
    for (uint32_t i = 0; i < s->tenants_count; i++) {
        const rt_sim_tenant *const tenant = &s->tenants[i];
        REQUIRE(tenant->name != NULL && tenant->share < CERTAIN, "tenants[%u]: name or share is wrong", i);
        REQUIRE(tenant->priority < RT_SIM_PRIORITIES, "tenants[%u].priority: choose 0 to 15", i);
        REQUIRE(tenant->weight >= 1 && tenant->weight <= 1u << 20, "tenants[%u].weight: choose 1 to 2^20", i);
        shares += tenant->share;
    }
    REQUIRE(shares > 0 && shares < CERTAIN, "tenants: the sum of the shares must be 1 to 2^32 - 1");
    return RT_OK;
}

static rt_status check_providers(const rt_sim_scenario *s, rt_message *why) {
    REQUIRE(s->providers_count >= 1 && s->providers_count <= 64, "providers: give 1 to 64");
    for (uint32_t i = 0; i < s->providers_count; i++) {
        const rt_sim_provider *const p = &s->providers[i];
        REQUIRE(p->name != NULL && p->overflow <= RT_SIM_REJECT && p->kv_policy <= RT_SIM_PREEMPT,
                "providers[%u]: name, overflow or kv_policy is wrong", i);
        REQUIRE(p->error <= CERTAIN, "providers[%u].error: choose at most 2^32", i);
        REQUIRE(p->tokens_per_min < UINT64_C(1) << 40 && p->requests_per_min < UINT64_C(1) << 40,
                "providers[%u]: a rate is above 2^40 a minute", i);
        REQUIRE(p->retry_after_ns <= LONGEST_NS && p->timeout_ns <= LONGEST_NS,
                "providers[%u]: a time is above 2^53", i);
    }
    REQUIRE(s->models_count >= 1 && s->models_count <= 1024, "models: give 1 to 1024");
    for (uint32_t i = 0; i < s->models_count; i++) {
        const rt_sim_model *const m = &s->models[i];
        REQUIRE(m->name != NULL && m->provider < s->providers_count, "models[%u]: name or provider is wrong",
                i);
        REQUIRE(m->base_ns <= LONGEST_NS && m->input_ns_per_1024_tokens < UINT64_C(1) << 40 &&
                    m->output_ns_per_1024_tokens < UINT64_C(1) << 40,
                "models[%u]: a time is too long", i);
        REQUIRE(m->load_slope_permille < 1u << 20 && m->load_reference < CERTAIN &&
                    (m->load_slope_permille == 0 || m->load_reference > 0),
                "models[%u]: load_slope_permille or load_reference is wrong", i);
        const uint64_t dearest = UINT64_C(10000000000); /* USD 10,000 for a million tokens */
        REQUIRE(m->input_pusd <= dearest && m->cached_pusd <= dearest && m->output_pusd <= dearest,
                "models[%u]: a price is above 10^10", i);
        REQUIRE(m->max_output_tokens <= MOST_TOKENS, "models[%u].max_output_tokens: choose at most 2^26", i);
    }
    return RT_OK;
}

static rt_status check_tools(const rt_sim_scenario *s, rt_message *why) {
    REQUIRE(s->tools_count <= 1024, "tools: give at most 1024");
    for (uint32_t i = 0; i < s->tools_count; i++) {
        const rt_sim_tool *const tool = &s->tools[i];
        rt_status status = check_distribution(s, &tool->latency_ns, LONGEST_NS, "tools: latency_ns", why);
        if (status == RT_OK) {
            status = check_distribution(s, &tool->result_tokens, MOST_TOKENS, "tools: result_tokens", why);
        }
        if (status != RT_OK) {
            return status;
        }
        REQUIRE(tool->name != NULL && tool->overflow <= RT_SIM_REJECT, "tools[%u]: name or overflow is wrong",
                i);
        REQUIRE(tool->error <= CERTAIN && tool->timeout <= CERTAIN, "tools[%u]: a probability is above 2^32",
                i);
        REQUIRE(tool->rate_per_min < UINT64_C(1) << 40, "tools[%u].rate_per_min is above 2^40", i);
        REQUIRE(tool->retry_after_ns <= LONGEST_NS && tool->timeout_ns <= LONGEST_NS,
                "tools[%u]: a time is above 2^53", i);
    }
    return RT_OK;
}

static rt_status check_class(const rt_sim_scenario *s, uint32_t i, rt_message *why) {
    const rt_sim_class *const class = &s->classes[i];
    const struct {
        const rt_sim_distribution *of;
        uint64_t most;
        const char *name;
    } drawn[] = {{&class->steps, 65535, "classes: steps"},
                 {&class->system_tokens, MOST_TOKENS, "classes: system_tokens"},
                 {&class->tools_tokens, MOST_TOKENS, "classes: tools_tokens"},
                 {&class->document_tokens, MOST_TOKENS, "classes: document_tokens"},
                 {&class->user_tokens, MOST_TOKENS, "classes: user_tokens"},
                 {&class->output_tokens, MOST_TOKENS, "classes: output_tokens"}};
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) {
        const rt_status status = check_distribution(s, drawn[k].of, drawn[k].most, drawn[k].name, why);
        if (status != RT_OK) {
            return status;
        }
    }
    REQUIRE(class->name != NULL && class->share < CERTAIN, "classes[%u]: name or share is wrong", i);
    REQUIRE(class->tenant == UINT32_MAX || class->tenant < s->tenants_count,
            "classes[%u].tenant: there is none", i);
    REQUIRE(class->model < s->models_count, "classes[%u].model: there is none", i);
    REQUIRE((uint64_t)class->first_tool_use + class->tool_uses <= s->tool_uses_count &&
                class->tool_uses < 65535,
            "classes[%u]: its tool uses are beyond tool_uses_count", i);
    REQUIRE((uint64_t)class->first_prefix + class->prefixes <= s->prefixes_count,
            "classes[%u]: there are fewer prefixes", i);
    REQUIRE(class->prefix_share <= CERTAIN && class->success <= CERTAIN,
            "classes[%u]: a probability is above 2^32", i);
    return RT_OK;
}

static rt_status check_classes(const rt_sim_scenario *s, rt_message *why) {
    uint64_t shares = 0;
    REQUIRE(s->classes_count <= 1024, "classes: give at most 1024");
    for (uint32_t i = 0; i < s->classes_count; i++) {
        const rt_status status = check_class(s, i, why);
        if (status != RT_OK) {
            return status;
        }
        shares += s->classes[i].share;
    }
    REQUIRE(s->recorded_count > 0 || (shares > 0 && shares < CERTAIN),
            "classes: the shares must sum to 1 .. 2^32 - 1");
    REQUIRE(s->prefixes_count == 0 || s->prefix_tokens != NULL, "prefix_tokens: give one for each prefix");
    for (uint32_t i = 0; i < s->prefixes_count; i++) {
        REQUIRE(s->prefix_tokens[i] <= RT_SIM_PROMPT_MAX, "prefix_tokens[%u]: choose at most 2^26 - 1", i);
    }
    for (uint32_t i = 0; i < s->tool_uses_count; i++) {
        REQUIRE(s->tool_uses[i].tool < s->tools_count && s->tool_uses[i].per_step_permille <= 65000000u,
                "tool_uses[%u]: tool or per_step_permille is wrong", i);
    }
    return RT_OK;
}

static rt_status check_recorded(const rt_sim_scenario *s, rt_message *why) {
    REQUIRE(s->recorded_count == 0 || s->classes_count == 0,
            "recorded: with recorded tasks there are no classes");
    for (uint32_t i = 0; i < s->recorded_count; i++) {
        const rt_sim_recorded_task *const task = &s->recorded[i];
        REQUIRE(task->steps >= 1 && task->steps <= 65535, "recorded[%u].steps: choose 1 to 65535", i);
        REQUIRE((uint64_t)task->first_step + task->steps <= s->recorded_steps_count,
                "recorded[%u]: there are fewer steps", i);
        REQUIRE(task->tenant == UINT32_MAX || task->tenant < s->tenants_count,
                "recorded[%u].tenant: there is none", i);
        REQUIRE(task->model < s->models_count, "recorded[%u].model: there is none", i);
        REQUIRE(task->prefix == UINT32_MAX || task->prefix < s->prefixes_count,
                "recorded[%u].prefix: there is none", i);
        REQUIRE(task->success <= CERTAIN, "recorded[%u].success: choose at most 2^32", i);
    }
    for (uint32_t i = 0; i < s->recorded_steps_count; i++) {
        const rt_sim_recorded_step *const step = &s->recorded_steps[i];
        REQUIRE((uint64_t)step->first_call + step->calls <= s->recorded_calls_count && step->calls < 65535,
                "recorded_steps[%u]: there are fewer calls", i);
        REQUIRE(step->input_tokens <= MOST_TOKENS && step->output_tokens <= MOST_TOKENS &&
                    step->latency_ns <= LONGEST_NS,
                "recorded_steps[%u]: tokens above 2^26 or latency above 2^53", i);
    }
    for (uint32_t i = 0; i < s->recorded_calls_count; i++) {
        REQUIRE(s->recorded_calls[i].tool < s->tools_count && s->recorded_calls[i].latency_ns <= LONGEST_NS,
                "recorded_calls[%u]: tool or latency is wrong", i);
    }
    return RT_OK;
}

static rt_status check_policies(const rt_sim_scenario *s, rt_message *why) {
    uint64_t attempts = 1;
    REQUIRE(s->retries_count <= RT_SIM_LAYERS, "retries: give at most 3 layers");
    for (uint32_t i = 0; i < s->retries_count; i++) {
        const rt_sim_retry *const layer = &s->retries[i];
        REQUIRE(layer->name != NULL && layer->attempts >= 1 && layer->attempts <= 255,
                "retries[%u]: choose 1 to 255 attempts", i);
        REQUIRE(layer->backoff <= RT_SIM_BACKOFF_EXPONENTIAL && layer->delay_ns <= LONGEST_NS &&
                    layer->cap_ns <= LONGEST_NS,
                "retries[%u]: the backoff is wrong", i);
        attempts *= layer->attempts;
    }
    REQUIRE(attempts <= 10000,
            "retries: the layers make %llu attempts of one operation; choose 10,000 at most",
            (unsigned long long)attempts);
    REQUIRE(s->breaker_open_ns <= LONGEST_NS, "breaker_open_ns: choose at most 2^53");
    REQUIRE(s->degradations_count <= RT_SIM_DEGRADATIONS, "degradations: give at most 16");
    for (uint32_t i = 0; i < s->degradations_count; i++) {
        const rt_sim_degradation *const d = &s->degradations[i];
        REQUIRE(d->name != NULL && d->state <= RT_SIM_SHED && d->condition <= RT_SIM_CONTEXT_ABOVE,
                "degradations[%u]: name, state or condition is wrong", i);
        REQUIRE(d->state != RT_SIM_FALLBACK_MODEL || d->model < s->models_count,
                "degradations[%u].model: there is none", i);
        REQUIRE(d->condition != RT_SIM_QUEUE_DEPTH || d->threshold > 0,
                "degradations[%u].threshold: choose 1 or more", i);
        REQUIRE(d->steps_factor_permille <= 1000000u && d->output_factor_permille <= 1000000u,
                "degradations[%u]: a factor is above 1000", i);
        REQUIRE(d->success_delta >= -(int64_t)CERTAIN && d->success_delta <= (int64_t)CERTAIN,
                "degradations[%u].success_delta is beyond 2^32", i);
    }
    for (uint32_t i = 0; i < s->events_count; i++) {
        const rt_sim_event *const event = &s->events[i];
        const uint32_t bound = event->kind == RT_SIM_OUTAGE_TOOL ? s->tools_count : s->providers_count;
        REQUIRE(event->kind <= RT_SIM_OUTAGE_TOOL, "events[%u].kind: there is none", i);
        REQUIRE(event->dependency < bound ||
                    (event->kind == RT_SIM_INVALIDATE_CACHES && event->dependency == UINT32_MAX),
                "events[%u].dependency: there is none", i);
        REQUIRE(event->at_ns <= LONGEST_NS && event->for_ns <= LONGEST_NS, "events[%u]: a time is above 2^53",
                i);
    }
    return RT_OK;
}

rt_status rt_sim_check(const rt_sim_scenario *scenario, rt_message *why) {
    rt_status (*const checks[])(const rt_sim_scenario *,
                                rt_message *) = {check_run,     check_tenants,  check_providers, check_tools,
                                                 check_classes, check_recorded, check_policies};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const rt_status status = checks[i](scenario, why);
        if (status != RT_OK) {
            return status;
        }
    }
    return RT_OK;
}
