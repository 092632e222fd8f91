/* The course of a task: its steps, and the operations of each step one after another. */
#include "rt_sim_state.h"

static bool recorded(const rt_sim *self) { return self->scenario.recorded_count > 0; }

static const rt_sim_class *class_of(const rt_sim *self, const rt_sim_slot *task) {
    return &self->scenario.classes[task->origin];
}

static const rt_sim_recorded_step *step_of(const rt_sim *self, const rt_sim_slot *task) {
    return &self->scenario.recorded_steps[self->scenario.recorded[task->origin].first_step + task->step];
}

/* The draw for the operation that the task is at, and for its present attempt. */
uint64_t rt_sim_draw_of(const rt_sim *self, const rt_sim_slot *task, rt_sim_purpose purpose) {
    const rt_sim_place place = {.step = task->step,
                                .use = task->use,
                                .repeat = task->repeat,
                                .attempts = (uint32_t)task->tries[0] | (uint32_t)task->tries[1] << 8 |
                                            (uint32_t)task->tries[2] << 16};
    return rt_sim_draw(self->scenario.seed, task->task, purpose, place);
}

uint32_t rt_sim_tool_of(const rt_sim *self, const rt_sim_slot *task) {
    return recorded(self) ? self->scenario.recorded_calls[step_of(self, task)->first_call + task->use].tool
                          : self->scenario.tool_uses[class_of(self, task)->first_tool_use + task->use].tool;
}

uint32_t rt_sim_gate_of(const rt_sim *self, const rt_sim_slot *task) {
    return task->use == RT_SIM_MODEL_OPERATION ? self->scenario.models[task->model].provider
                                               : self->scenario.providers_count + rt_sim_tool_of(self, task);
}

/* ---- model operations ---- */

/* A value of the class that is drawn once for a task, or (output) once for a step. */
static uint64_t drawn(const rt_sim *self, const rt_sim_slot *task, const rt_sim_distribution *of,
                      rt_sim_purpose purpose) {
    const rt_sim_place place = {.step = task->step};
    const bool fixed = of->kind == RT_SIM_SAMPLES && of->count == 1;
    return rt_sim_sample(self->scenario.values, of,
                         fixed ? 0 : rt_sim_draw(self->scenario.seed, task->task, purpose, place));
}

static uint16_t steps_within(uint64_t steps) {
    return (uint16_t)(steps < 1 ? 1 : steps > 65535u ? 65535u : steps);
}

static void lower_effort(rt_sim *self, rt_sim_slot *task, uint64_t *output) {
    const rt_sim_degradation *const lower = rt_sim_degrade(self, task, RT_SIM_LOWER_EFFORT);
    if (lower == NULL) {
        return;
    }
    *output = *output * lower->output_factor_permille / 1000u;
    if ((task->flags & RT_SIM_FLAG_EFFORT) == 0) {
        const uint64_t left = task->steps - task->step;
        const uint16_t steps =
            steps_within(task->step + ((left * lower->steps_factor_permille + 500u) / 1000u));
        task->flags |= RT_SIM_FLAG_EFFORT;
        task->steps = recorded(self) && steps > task->steps ? task->steps : steps;
        task->steps = task->steps > task->step ? task->steps : (uint16_t)(task->step + 1u);
    }
}

static void truncate_context(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    const rt_sim_degradation *const cut = rt_sim_degrade(self, task, RT_SIM_TRUNCATE_CONTEXT);
    if (cut == NULL || task->prompt_tokens <= cut->keep_tokens) {
        return;
    }
    const uint32_t away = task->prompt_tokens - (uint32_t)cut->keep_tokens;
    task->transcript_tokens -= away < task->transcript_tokens ? away : task->transcript_tokens;
    task->prompt_tokens = (uint32_t)cut->keep_tokens;
    rt_sim_cache_drop(self, slot); /* what comes after the shared prefix is no longer what was cached */
}

static void begin_model(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    uint64_t output;
    task->use = RT_SIM_MODEL_OPERATION;
    task->repeat = 0;
    if (recorded(self)) {
        task->model = self->scenario.recorded[task->origin].model & 1023u;
        task->prompt_tokens = step_of(self, task)->input_tokens;
        output = step_of(self, task)->output_tokens;
    } else {
        task->model = class_of(self, task)->model & 1023u;
        task->prompt_tokens = task->fixed_tokens + task->transcript_tokens;
        output = drawn(self, task, &class_of(self, task)->output_tokens, RT_SIM_DRAW_OUTPUT);
    }
    if (self->scenario.degradations_count > 0) {
        const rt_sim_degradation *const fallback = rt_sim_degrade(self, task, RT_SIM_FALLBACK_MODEL);
        if (fallback != NULL) {
            task->model = fallback->model & 1023u;
        }
        truncate_context(self, slot);
        lower_effort(self, task, &output);
    }
    const uint64_t most = self->scenario.models[task->model].max_output_tokens;
    task->output_tokens = (uint32_t)(most > 0 && output > most ? most : output);
    rt_sim_retry_begin(self, task);
}

/* ---- the next operation ---- */

static uint32_t uses_of(const rt_sim *self, const rt_sim_slot *task) {
    if (recorded(self)) {
        return step_of(self, task)->calls;
    }
    return task->step + 1u >= task->steps ? 0 : class_of(self, task)->tool_uses;
}

static uint32_t repeats_of(const rt_sim *self, const rt_sim_slot *task) {
    if (recorded(self)) {
        return 1;
    }
    const uint32_t permille =
        self->scenario.tool_uses[class_of(self, task)->first_tool_use + task->use].per_step_permille;
    if (permille % 1000u == 0) {
        return permille / 1000u;
    }
    const rt_sim_place place = {.step = task->step, .use = task->use};
    const uint64_t key = rt_sim_draw(self->scenario.seed, task->task, RT_SIM_DRAW_USES, place);
    return permille / 1000u + (rt_random_scale(key, 1000u) < permille % 1000u);
}

/* False: that was the last one. */
static bool next_operation(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    if (task->use == RT_SIM_MODEL_OPERATION) {
        task->use = 0;
        task->repeat = 0;
    } else {
        task->repeat++;
    }
    for (const uint32_t uses = uses_of(self, task); task->use < uses; task->use++, task->repeat = 0) {
        if (task->repeat < repeats_of(self, task)) {
            rt_sim_retry_begin(self, task);
            return true;
        }
    }
    if (task->step + 1u >= task->steps) {
        return false;
    }
    task->step++;
    begin_model(self, slot);
    return true;
}

uint32_t rt_sim_attempt(rt_sim *self, uint32_t slot) {
    const rt_sim_slot *const task = &self->slots[slot];
    rt_sim_gate *const gate = &self->gates[rt_sim_gate_of(self, task)];
    rt_sim_trace_asked(self, task);
    if (self->now_ns < gate->open_until_ns) {
        gate->counts.breaker++;
        rt_sim_trace_span(self, task, RT_SIM_SPAN_MODEL, RT_SIM_CALL_BREAKER);
        return RT_SIM_CALL_BREAKER;
    }
    if (task->use == RT_SIM_MODEL_OPERATION) {
        const uint64_t context = self->scenario.models[task->model].context_tokens;
        const uint64_t whole = (uint64_t)task->prompt_tokens + task->output_tokens;
        if (task->prompt_tokens > RT_SIM_PROMPT_MAX || (context > 0 && whole > context)) {
            gate->counts.refused++;
            rt_sim_trace_span(self, task, RT_SIM_SPAN_MODEL, RT_SIM_CALL_REFUSED);
            return RT_SIM_CALL_REFUSED;
        }
    }
    return rt_sim_gate_enter(self, slot);
}

/* An operation that has failed for good fails its task, unless it is of a tool that the task can do without. */
static bool may_go_on(const rt_sim *self, const rt_sim_slot *task) {
    return task->use != RT_SIM_MODEL_OPERATION &&
           self->scenario.tools[rt_sim_tool_of(self, task)].optional != 0;
}

void rt_sim_proceed(rt_sim *self, uint32_t slot, uint32_t result) {
    while (result != RT_SIM_PENDING) {
        if (result != RT_SIM_CALL_OK) {
            const rt_sim_verdict verdict = rt_sim_try_again(self, slot, result);
            if (verdict == RT_SIM_TRY_LATER) {
                return;
            }
            if (verdict == RT_SIM_TRY_NOW) {
                result = rt_sim_attempt(self, slot);
                continue;
            }
            if (!may_go_on(self, &self->slots[slot])) {
                self->totals.failed_refused += result == RT_SIM_CALL_REFUSED;
                self->totals.failed_calls += result != RT_SIM_CALL_REFUSED;
                rt_sim_task_end(self, slot, RT_SIM_FAILED);
                return;
            }
        }
        if (!next_operation(self, slot)) {
            rt_sim_task_end(self, slot, RT_SIM_FINISHED);
            return;
        }
        result = rt_sim_attempt(self, slot);
    }
}

void rt_sim_task_start(rt_sim *self, uint32_t slot) {
    rt_sim_slot *const task = &self->slots[slot];
    rt_sim_trace_begun(self, task);
    if (recorded(self)) {
        const rt_sim_recorded_task *const from = &self->scenario.recorded[task->origin];
        task->steps = (uint16_t)from->steps;
        task->shared_tokens = from->shared_tokens;
    } else {
        const rt_sim_class *const class = class_of(self, task);
        const uint64_t system = drawn(self, task, &class->system_tokens, RT_SIM_DRAW_SYSTEM) +
                                drawn(self, task, &class->tools_tokens, RT_SIM_DRAW_TOOLS);
        const uint64_t own = drawn(self, task, &class->document_tokens, RT_SIM_DRAW_DOCUMENT) +
                             drawn(self, task, &class->user_tokens, RT_SIM_DRAW_USER);
        task->steps = steps_within(drawn(self, task, &class->steps, RT_SIM_DRAW_STEPS));
        task->fixed_tokens = (uint32_t)(system + own);
        task->shared_tokens = class->prefixes > 0 ? (uint32_t)((system * class->prefix_share) >> 32) : 0;
    }
    begin_model(self, slot);
    const uint32_t result = rt_sim_attempt(self, slot);
    rt_sim_proceed(self, slot, result);
}
