/* One call: what it needs, how long it takes, how it ends and what it costs. */
#include "rt_sim_state.h"

static bool is_model(const rt_sim_slot *task) { return task->use == RT_SIM_MODEL_OPERATION; }

static bool is_whole(const rt_sim_slot *task) { return (task->flags & RT_SIM_FLAG_KV_WHOLE) != 0; }

/* ---- what it needs ---- */

static const rt_sim_provider *provider_of(const rt_sim *self, const rt_sim_slot *task) {
    return &self->scenario.providers[self->scenario.models[task->model].provider];
}

static uint64_t reserved_output(const rt_sim *self, const rt_sim_slot *task) {
    const uint64_t most = self->scenario.models[task->model].max_output_tokens;
    return provider_of(self, task)->reserve_max_tokens && most > 0 ? most : task->output_tokens;
}

static uint64_t tokens_needed(const rt_sim *self, const rt_sim_slot *task) {
    const uint64_t cached = provider_of(self, task)->count_cached ? 0 : task->cached_tokens;
    return task->prompt_tokens - cached + reserved_output(self, task);
}

static uint64_t recorded_latency(const rt_sim *self, const rt_sim_slot *task) {
    const rt_sim_scenario *const scenario = &self->scenario;
    return scenario->recorded_count == 0
               ? 0
               : scenario->recorded_steps[scenario->recorded[task->origin].first_step + task->step]
                     .latency_ns;
}

/* Whether its output needs memory only later. A recorded latency has no moment at which the output begins. */
static bool preempts(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    return is_model(task) && gate->kv_tokens > 0 && !is_whole(task) &&
           provider_of(self, task)->kv_policy == RT_SIM_PREEMPT && recorded_latency(self, task) == 0;
}

static uint64_t kv_needed(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    return task->prompt_tokens + (preempts(self, gate, task) ? 0u : (uint64_t)task->output_tokens);
}

static rt_sim_limit try_buckets(rt_sim *self, rt_sim_gate *gate, uint64_t tokens, uint64_t *when_ns) {
    const bool has_request = rt_sim_bucket_has(&gate->requests, 1, self->now_ns);
    const bool has_tokens = rt_sim_bucket_has(&gate->tokens, tokens, self->now_ns);
    if (has_request && has_tokens) {
        return RT_SIM_LIMIT_NONE;
    }
    const uint64_t request_ns = has_request ? 0 : rt_sim_bucket_when(&gate->requests, 1);
    const uint64_t tokens_ns = has_tokens ? 0 : rt_sim_bucket_when(&gate->tokens, tokens);
    *when_ns = tokens_ns > request_ns ? tokens_ns : request_ns;
    return tokens_ns > request_ns ? RT_SIM_LIMIT_TOKENS : RT_SIM_LIMIT_REQUESTS;
}

/* Which limit stops it now. *when_ns: when the buckets will not, if that is what stops it. */
rt_sim_limit rt_sim_call_try(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *task, uint64_t *when_ns) {
    uint64_t tokens = 0;
    const bool full = gate->concurrency > 0 && gate->in_flight >= gate->concurrency;
    if (is_model(task)) {
        task->cached_tokens = gate->cache_tokens > 0 ? rt_sim_cache_match(self, gate, task) : 0;
        tokens = tokens_needed(self, task);
        const uint64_t whole = (uint64_t)task->prompt_tokens + task->output_tokens;
        if ((gate->tokens.per_min > 0 && tokens > gate->tokens.per_min) ||
            (gate->kv_tokens > 0 && whole > gate->kv_tokens)) {
            return RT_SIM_LIMIT_NEVER;
        }
        if (!full && gate->kv_tokens > 0 && gate->kv_used + kv_needed(self, gate, task) > gate->kv_tokens) {
            return RT_SIM_LIMIT_KV;
        }
    }
    if (full) {
        return RT_SIM_LIMIT_CONCURRENCY;
    }
    return is_whole(task) ? RT_SIM_LIMIT_NONE : try_buckets(self, gate, tokens, when_ns);
}

/* ---- how long it takes ---- */

static uint64_t loaded(const rt_sim_model *model, const rt_sim_gate *gate, uint64_t ns) {
    if (model->load_slope_permille == 0) {
        return ns;
    }
    const uint64_t whole = 1000u * model->load_reference;
    const unsigned __int128 product =
        (unsigned __int128)ns * (whole + model->load_slope_permille * gate->in_flight);
    const unsigned __int128 slowed = product / whole;
    return slowed < UINT64_C(1) << 62 ? (uint64_t)slowed : UINT64_C(1) << 62;
}

static uint64_t time_of(uint64_t tokens, uint64_t ns_per_1024) {
    return (uint64_t)(((unsigned __int128)tokens * ns_per_1024) >> 10);
}

static uint64_t prefill_ns(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    const rt_sim_model *const model = &self->scenario.models[task->model];
    const uint64_t input = task->prompt_tokens - task->cached_tokens;
    return loaded(model, gate, model->base_ns + time_of(input, model->input_ns_per_1024_tokens));
}

static uint64_t decode_ns(const rt_sim *self, const rt_sim_gate *gate, const rt_sim_slot *task) {
    const rt_sim_model *const model = &self->scenario.models[task->model];
    return loaded(model, gate, time_of(task->output_tokens, model->output_ns_per_1024_tokens));
}

static uint64_t model_latency(const rt_sim *self, const rt_sim_gate *gate, rt_sim_slot *task) {
    const rt_sim_model *const model = &self->scenario.models[task->model];
    const rt_sim_provider *const provider = provider_of(self, task);
    const uint64_t recorded = recorded_latency(self, task);
    uint64_t latency_ns = recorded > 0
                              ? loaded(model, gate, recorded)
                              : rt_sim_after(prefill_ns(self, gate, task), decode_ns(self, gate, task));
    const bool fails =
        provider->error > 0 && rt_sim_draw_of(self, task, RT_SIM_DRAW_FAULT) >> 32 < provider->error;
    task->outcome = RT_SIM_CALL_OK;
    if (gate->down_until_ns > self->now_ns || fails) {
        task->outcome = RT_SIM_CALL_ERROR;
        latency_ns = loaded(model, gate, model->base_ns);
    }
    if (provider->timeout_ns > 0 && latency_ns > provider->timeout_ns) {
        task->outcome = RT_SIM_CALL_TIMEOUT;
        latency_ns = provider->timeout_ns;
    }
    return latency_ns;
}

static uint64_t tool_latency(const rt_sim *self, const rt_sim_gate *gate, rt_sim_slot *task) {
    const uint32_t index = rt_sim_tool_of(self, task);
    const rt_sim_tool *const tool = &self->scenario.tools[index];
    uint64_t latency_ns;
    if (self->scenario.recorded_count > 0) {
        const rt_sim_recorded_task *const from = &self->scenario.recorded[task->origin];
        const rt_sim_recorded_step *const step =
            &self->scenario.recorded_steps[from->first_step + task->step];
        latency_ns = self->scenario.recorded_calls[step->first_call + task->use].latency_ns;
    } else {
        latency_ns = rt_sim_sample(self->scenario.values, &tool->latency_ns,
                                   rt_sim_draw_of(self, task, RT_SIM_DRAW_TOOL_LATENCY));
    }
    const bool may_fail = tool->error > 0 || tool->timeout > 0;
    const uint64_t fault = may_fail ? rt_sim_draw_of(self, task, RT_SIM_DRAW_FAULT) : 0;
    const bool timed_out = may_fail && (fault & UINT32_MAX) < tool->timeout;
    task->outcome = gate->down_until_ns > self->now_ns || (may_fail && fault >> 32 < tool->error)
                        ? RT_SIM_CALL_ERROR
                        : RT_SIM_CALL_OK;
    if (timed_out || (tool->timeout_ns > 0 && latency_ns > tool->timeout_ns)) {
        task->outcome = RT_SIM_CALL_TIMEOUT;
        latency_ns = tool->timeout_ns > 0 ? tool->timeout_ns : latency_ns;
    }
    return latency_ns;
}

/* ---- its course ---- */

static void count_sent(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *task, uint64_t latency_ns) {
    gate->counts.calls++;
    rt_sim_link_of(self, task)->attempts++;
    self->totals.attempts++;
    if (is_model(task)) {
        self->models[task->model].calls++;
    }
    if (task->task >= self->scenario.warmup_tasks) {
        rt_histogram *const wait =
            &self->histograms[is_model(task) ? RT_SIM_HISTOGRAM_MODEL : RT_SIM_HISTOGRAM_TOOL];
        rt_histogram_record(wait, self->now_ns - rt_sim_link_of(self, task)->at_ns);
        rt_histogram_record(gate->latency, latency_ns);
    }
}

/* Its link's at_ns is when it got in line. */
void rt_sim_call_send(rt_sim *self, uint32_t index, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    rt_sim_gate *const gate = &self->gates[index];
    const bool in_two = preempts(self, gate, task);
    const bool again = is_whole(task);
    gate->in_flight++;
    gate->in_flight_max = gate->in_flight > gate->in_flight_max ? gate->in_flight : gate->in_flight_max;
    if (!again) {
        rt_sim_bucket_take(&gate->requests, 1);
    }
    if (is_model(task)) {
        if (!again) {
            rt_sim_bucket_take(&gate->tokens, tokens_needed(self, task));
        }
        gate->kv_used += gate->kv_tokens > 0 ? kv_needed(self, gate, task) : 0;
        gate->kv_peak = gate->kv_used > gate->kv_peak ? gate->kv_used : gate->kv_peak;
        if (gate->cache_tokens > 0) {
            rt_sim_cache_use(self, index, slot);
        }
    }
    const uint64_t latency_ns =
        is_model(task) ? model_latency(self, gate, task) : tool_latency(self, gate, task);
    rt_sim_trace_started(self, task);
    if (!again) {
        count_sent(self, gate, task, latency_ns);
    }
    if (in_two && task->outcome == RT_SIM_CALL_OK) {
        rt_sim_plan(self, slot, RT_SIM_STATE_PREFILL,
                    rt_sim_after(self->now_ns, prefill_ns(self, gate, task)));
    } else {
        rt_sim_plan(self, slot, RT_SIM_STATE_CALL, rt_sim_after(self->now_ns, latency_ns));
    }
}

/* The output begins to need memory: when there is none, the call gives way and starts again, first in line and not
 * before the whole of it fits. */
void rt_sim_call_prefilled(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    const uint32_t index = rt_sim_gate_of(self, task);
    rt_sim_gate *const gate = &self->gates[index];
    task->flags |= RT_SIM_FLAG_KV_WHOLE;
    if (gate->kv_used + task->output_tokens <= gate->kv_tokens) {
        gate->kv_used += task->output_tokens;
        gate->kv_peak = gate->kv_used > gate->kv_peak ? gate->kv_used : gate->kv_peak;
        rt_sim_plan(self, slot, RT_SIM_STATE_CALL, rt_sim_after(self->now_ns, decode_ns(self, gate, task)));
        return;
    }
    gate->in_flight--;
    gate->kv_used -= task->prompt_tokens;
    gate->counts.preempted++;
    gate->counts.tokens_wasted += task->prompt_tokens;
    rt_sim_ceiling_hit(&gate->ceilings[RT_SIM_LIMIT_KV], self->now_ns);
    rt_sim_trace_span(self, task, RT_SIM_SPAN_MODEL, RT_SIM_CALL_PREEMPTED);
    rt_sim_trace_asked(self, task);
    task->state = RT_SIM_STATE_LINE;
    self->links[slot].at_ns = self->now_ns;
    rt_sim_line_put_first(&gate->line, self->links, slot);
    gate->cause = RT_SIM_LIMIT_KV;
    rt_sim_gate_pump(self, index);
}

static void add(rt_sim *self, uint32_t *sum, uint64_t value) {
    if (value > UINT32_MAX - *sum) {
        self->status = RT_TOO_SMALL; /* rt_sim_execute says which sum this is */
        return;
    }
    *sum += (uint32_t)value;
}

static void bill(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *task) {
    const rt_sim_model *const model = &self->scenario.models[task->model];
    rt_sim_calls *const of_model = &self->models[task->model];
    const uint64_t cost = (uint64_t)(task->prompt_tokens - task->cached_tokens) * model->input_pusd +
                          (uint64_t)task->cached_tokens * model->cached_pusd +
                          (uint64_t)task->output_tokens * model->output_pusd;
    rt_sim_calls *const both[2] = {&gate->counts, of_model};
    for (unsigned i = 0; i < 2; i++) {
        both[i]->tokens_input += task->prompt_tokens;
        both[i]->tokens_cached += task->cached_tokens;
        both[i]->tokens_output += task->output_tokens;
        both[i]->cost_pusd += cost;
    }
    of_model->ok++;
    self->totals.unpriced |= model->priced == 0;
    add(self, &task->tokens_input, task->prompt_tokens);
    add(self, &task->tokens_cached, task->cached_tokens);
    add(self, &task->tokens_output, task->output_tokens);
    task->cost_pusd += cost;
    if (self->scenario.recorded_count == 0) {
        add(self, &task->transcript_tokens, task->output_tokens);
    }
}

static void count_failure(rt_sim *self, rt_sim_gate *gate, const rt_sim_slot *task) {
    gate->counts.errors += task->outcome == RT_SIM_CALL_ERROR;
    gate->counts.timeouts += task->outcome == RT_SIM_CALL_TIMEOUT;
    if (is_model(task)) {
        const uint32_t output = task->outcome == RT_SIM_CALL_TIMEOUT ? task->output_tokens : 0;
        gate->counts.tokens_wasted += (uint64_t)task->prompt_tokens + output;
    }
    if (self->scenario.breaker_failures > 0 && ++gate->failures >= self->scenario.breaker_failures) {
        gate->opened++;
        gate->open_until_ns = rt_sim_after(self->now_ns, self->scenario.breaker_open_ns);
        gate->failures =
            self->scenario.breaker_failures - 1u; /* once it is closed again, one more opens it */
    }
}

static void count_success(rt_sim *self, rt_sim_gate *gate, rt_sim_slot *task) {
    gate->counts.ok++;
    gate->failures = 0;
    if (is_model(task)) {
        self->totals.steps_done++;
        bill(self, gate, task);
        return;
    }
    const uint32_t index = rt_sim_tool_of(self, task);
    if (self->scenario.recorded_count == 0) {
        const uint64_t tokens =
            rt_sim_sample(self->scenario.values, &self->scenario.tools[index].result_tokens,
                          rt_sim_draw_of(self, task, RT_SIM_DRAW_TOOL_RESULT));
        add(self, &task->transcript_tokens, tokens);
    }
}

void rt_sim_call_end(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    const uint32_t index = rt_sim_gate_of(self, task);
    rt_sim_gate *const gate = &self->gates[index];
    const uint32_t outcome = task->outcome;
    gate->in_flight--;
    if (is_model(task)) {
        gate->kv_used -= gate->kv_tokens > 0 ? kv_needed(self, gate, task) : 0;
        rt_sim_bucket_give(&gate->tokens, reserved_output(self, task) - task->output_tokens, self->now_ns);
        task->flags &= 31u & ~(unsigned)RT_SIM_FLAG_KV_WHOLE;
    }
    if (outcome == RT_SIM_CALL_OK) {
        count_success(self, gate, task);
    } else {
        count_failure(self, gate, task);
    }
    rt_sim_trace_span(self, task, is_model(task) ? RT_SIM_SPAN_MODEL : RT_SIM_SPAN_TOOL, outcome);
    rt_sim_gate_pump(self, index);
    rt_sim_proceed(self, slot, outcome);
}
