/* Spans of the tasks that are traced; for all others each call costs one test of a flag. */
#include "rt_sim_state.h"

#include <string.h>

uint32_t rt_sim_id_find(const uint32_t *ids, uint32_t count, uint32_t id) {
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && ids[low] == id ? low : UINT32_MAX;
}

static bool is_traced(const rt_sim_slot *task) { return (task->flags & RT_SIM_FLAG_TRACED) != 0; }

static rt_sim_trace *trace_of(rt_sim *self, const rt_sim_slot *task) {
    return &self->traces[rt_sim_id_find(self->scenario.trace_ids, self->scenario.trace_count, task->task)];
}

void rt_sim_trace_begun(rt_sim *self, const rt_sim_slot *task) {
    if (is_traced(task)) {
        trace_of(self, task)->begun_ns = self->now_ns;
    }
}

void rt_sim_trace_asked(rt_sim *self, const rt_sim_slot *task) {
    if (is_traced(task)) {
        rt_sim_trace *const trace = trace_of(self, task);
        trace->asked_ns = trace->started_ns = self->now_ns;
    }
}

void rt_sim_trace_started(rt_sim *self, const rt_sim_slot *task) {
    if (is_traced(task)) {
        trace_of(self, task)->started_ns = self->now_ns;
    }
}

static bool reserve(rt_sim *self) {
    if (self->spans_count < self->spans_room) {
        return true;
    }
    const size_t room = self->spans_room == 0 ? 256 : 2 * self->spans_room;
    rt_sim_span *const larger = rt_allocate_array(&self->allocator, room, sizeof *larger);
    if (larger == NULL) {
        self->status = RT_NO_MEMORY;
        return false;
    }
    if (self->spans_count > 0) {
        memcpy(larger, self->spans, self->spans_count * sizeof *larger);
    }
    rt_free(&self->allocator, self->spans);
    self->spans = larger;
    self->spans_room = room;
    return true;
}

static uint32_t result_tokens(const rt_sim *self, const rt_sim_slot *task, uint32_t outcome) {
    if (outcome != RT_SIM_CALL_OK || self->scenario.recorded_count > 0) {
        return 0;
    }
    return (uint32_t)rt_sim_sample(self->scenario.values,
                                   &self->scenario.tools[rt_sim_tool_of(self, task)].result_tokens,
                                   rt_sim_draw_of(self, task, RT_SIM_DRAW_TOOL_RESULT));
}

void rt_sim_trace_span(rt_sim *self, const rt_sim_slot *task, uint32_t kind, uint32_t outcome) {
    if (!is_traced(task) || !reserve(self)) {
        return;
    }
    const rt_sim_trace *const trace = trace_of(self, task);
    rt_sim_span *const span = &self->spans[self->spans_count++];
    *span = (rt_sim_span){.task = task->task,
                          .step = task->step,
                          .kind = kind,
                          .dependency = UINT32_MAX,
                          .outcome = outcome,
                          .asked_ns = trace->asked_ns,
                          .started_ns = trace->started_ns,
                          .ended_ns = self->now_ns};
    if (kind == RT_SIM_SPAN_TASK) {
        span->asked_ns = task->arrived_ns;
        span->started_ns = task->steps > 0 ? trace->begun_ns : self->now_ns;
        return;
    }
    if (task->use == RT_SIM_MODEL_OPERATION) {
        span->dependency = task->model;
        span->input_tokens = task->prompt_tokens;
        span->cached_tokens = task->cached_tokens;
        span->output_tokens = outcome == RT_SIM_CALL_OK ? task->output_tokens : 0;
    } else {
        span->kind = RT_SIM_SPAN_TOOL;
        span->dependency = rt_sim_tool_of(self, task);
        span->output_tokens = result_tokens(self, task, outcome);
    }
}
