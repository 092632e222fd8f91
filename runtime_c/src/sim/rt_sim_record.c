/* The record, as rt_sim_record.h describes it: everything but the gates. */
#include <stdio.h>

#include "rt_sim_state.h"

void rt_sim_write_wide(rt_json *json, const char *key, unsigned __int128 value) {
    char reversed[40], text[41];
    size_t digits = 0;
    do {
        reversed[digits++] = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (value != 0);
    for (size_t i = 0; i < digits; i++) {
        text[i] = reversed[digits - 1 - i];
    }
    text[digits] = '\0';
    rt_json_string(json, key, text);
}

/* The shape of the runtime's histograms; `unit` is "ns" or "1", and ends the keys of the former. */
void rt_sim_write_histogram(rt_json *json, const char *key, const rt_histogram *histogram, const char *unit) {
    const bool is_time = unit[0] == 'n';
    rt_json_object_begin(json, key);
    rt_json_string(json, "layout", RT_HISTOGRAM_LAYOUT);
    rt_json_string(json, "unit", unit);
    rt_json_uint(json, "sample_every", 1);
    rt_json_uint(json, "count", histogram->count);
    rt_sim_write_wide(json, is_time ? "sum_ns" : "sum", histogram->sum_ns);
    if (histogram->count == 0) {
        rt_json_null(json, is_time ? "min_ns" : "min");
        rt_json_null(json, is_time ? "max_ns" : "max");
    } else {
        rt_json_uint(json, is_time ? "min_ns" : "min", histogram->min_ns);
        rt_json_uint(json, is_time ? "max_ns" : "max", histogram->max_ns);
    }
    rt_json_array_begin(json, "buckets");
    for (uint32_t i = 0; histogram->count > 0 && i < RT_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] > 0) {
            rt_json_array_begin(json, NULL);
            rt_json_uint(json, NULL, i);
            rt_json_uint(json, NULL, histogram->buckets[i]);
            rt_json_array_end(json);
        }
    }
    rt_json_array_end(json);
    rt_json_object_end(json);
}

static void write_tasks(const rt_sim *self, rt_json *json) {
    const rt_sim_totals *const t = &self->totals;
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"arrived", t->arrived},       {"admitted", t->admitted}, {"finished", t->finished},
                  {"succeeded", t->succeeded},   {"failed", t->failed},     {"shed", t->shed},
                  {"unfinished", t->unfinished}, {"measured", t->measured}};
    rt_json_object_begin(json, "tasks");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        rt_json_uint(json, counts[i].key, counts[i].value);
    }
    rt_json_object_end(json);
    rt_json_object_begin(json, "failures");
    rt_json_uint(json, "calls_failed", t->failed_calls);
    rt_json_uint(json, "refused", t->failed_refused);
    rt_json_uint(json, "shed_queue_full", t->shed_queue);
    rt_json_uint(json, "shed_degradation", t->shed_degradation);
    rt_json_object_end(json);
}

static void write_load(const rt_sim *self, rt_json *json) {
    rt_json_object_begin(json, "in_flight");
    rt_json_uint(json, "max", self->in_flight.value_max);
    rt_sim_write_wide(json, "area_ns", self->in_flight.sum);
    rt_sim_write_wide(json, "sojourn_ns", self->totals.sojourn_ns);
    rt_json_object_end(json);
    rt_json_object_begin(json, "slots");
    rt_json_uint(json, "workers", self->scenario.workers);
    rt_sim_write_wide(json, "busy_area_ns", self->busy.sum);
    rt_json_uint(json, "busy_max", self->busy.value_max);
    rt_json_object_end(json);
    rt_json_object_begin(json, "queue");
    rt_json_uint(json, "depth_max", self->waiting_max);
    rt_json_uint(json, "age_max_ns", self->waiting_age_max_ns);
    rt_json_object_end(json);
    rt_json_object_begin(json, "steps");
    rt_json_uint(json, "done", self->totals.steps_done);
    rt_sim_write_wide(json, "finished_tasks", self->histograms[RT_SIM_HISTOGRAM_STEPS].sum_ns);
    rt_json_object_end(json);
    if (self->totals.unpriced) {
        rt_json_null(json, "cost_pusd");
    } else {
        rt_sim_write_wide(json, "cost_pusd", self->totals.cost_pusd);
    }
    rt_json_object_begin(json, "histograms");
    rt_sim_write_histogram(json, "duration", &self->histograms[RT_SIM_HISTOGRAM_DURATION], "ns");
    rt_sim_write_histogram(json, "queue_wait", &self->histograms[RT_SIM_HISTOGRAM_QUEUE], "ns");
    rt_sim_write_histogram(json, "steps", &self->histograms[RT_SIM_HISTOGRAM_STEPS], "1");
    rt_sim_write_histogram(json, "model_wait", &self->histograms[RT_SIM_HISTOGRAM_MODEL], "ns");
    rt_sim_write_histogram(json, "tool_wait", &self->histograms[RT_SIM_HISTOGRAM_TOOL], "ns");
    rt_json_object_end(json);
}

static void write_retries(const rt_sim *self, rt_json *json) {
    const rt_sim_totals *const t = &self->totals;
    rt_json_object_begin(json, "retries");
    rt_json_array_begin(json, "layers");
    for (uint32_t i = 0; i < self->scenario.retries_count; i++) {
        rt_json_object_begin(json, NULL);
        rt_json_string(json, "name", self->scenario.retries[i].name);
        rt_json_uint(json, "logical", self->layers[i].logical);
        rt_json_uint(json, "attempts", self->layers[i].attempts);
        rt_json_uint(json, "exhausted", self->layers[i].exhausted);
        rt_json_object_end(json);
    }
    rt_json_array_end(json);
    rt_json_uint(json, "logical", t->logical);
    rt_json_uint(json, "attempts", t->attempts);
    rt_json_uint(json, "dropped_budget", t->dropped_budget);
    rt_json_uint(json, "dropped_degradation", t->dropped_degradation);
    rt_json_object_begin(json, "samples");
    rt_json_uint(json, "tasks", t->sampled);
    rt_sim_write_wide(json, "attempts", t->sample_attempts);
    rt_sim_write_wide(json, "logical", t->sample_logical);
    rt_sim_write_wide(json, "attempts_squared", t->sample_aa);
    rt_sim_write_wide(json, "attempts_logical", t->sample_al);
    rt_sim_write_wide(json, "logical_squared", t->sample_ll);
    rt_json_object_end(json);
    rt_json_object_end(json);
}

static void write_degradations(const rt_sim *self, rt_json *json) {
    rt_json_array_begin(json, "degradations");
    for (uint32_t i = 0; i < self->scenario.degradations_count; i++) {
        rt_json_object_begin(json, NULL);
        rt_json_string(json, "name", self->scenario.degradations[i].name);
        rt_json_uint(json, "tasks", self->degraded[i].tasks);
        rt_json_uint(json, "times", self->degraded[i].times);
        if (self->degraded[i].times == 0) {
            rt_json_null(json, "onset_ns");
        } else {
            rt_json_uint(json, "onset_ns", self->degraded[i].onset_ns);
        }
        rt_json_object_end(json);
    }
    rt_json_array_end(json);
}

static void write_group(rt_json *json, const rt_sim_group *group, const char *name) {
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "name", name);
    rt_json_uint(json, "arrived", group->arrived);
    rt_json_uint(json, "finished", group->finished);
    rt_json_uint(json, "succeeded", group->succeeded);
    rt_json_uint(json, "failed", group->failed);
    rt_json_uint(json, "shed", group->shed);
    if (group->duration != NULL) {
        rt_sim_write_histogram(json, "duration", group->duration, "ns");
    } else {
        rt_json_uint(json, "queue_wait_max_ns", group->wait_max_ns);
        rt_sim_write_wide(json, "queue_wait_sum_ns", group->wait_sum_ns);
    }
    rt_json_object_end(json);
}

static void write_groups(const rt_sim *self, rt_json *json) {
    rt_json_array_begin(json, "classes");
    for (uint32_t i = 0; i < self->scenario.classes_count; i++) {
        write_group(json, &self->classes[i], self->scenario.classes[i].name);
    }
    rt_json_array_end(json);
    rt_json_array_begin(json, "tenants");
    for (uint32_t i = 0; i < self->scenario.tenants_count; i++) {
        write_group(json, &self->tenants[i], self->scenario.tenants[i].name);
    }
    rt_json_array_end(json);
}

static void write_evaluation(const rt_sim *self, rt_json *json) {
    rt_json_array_begin(json, "evaluation");
    for (uint32_t i = 0; i < self->scenario.evaluation_count; i++) {
        const rt_sim_task *const task = &self->evaluated[i];
        if (self->scenario.evaluation_ids[i] >= self->totals.arrived) {
            break;
        }
        rt_json_array_begin(json, NULL);
        rt_json_uint(json, NULL, task->task);
        rt_json_uint(json, NULL, task->outcome);
        rt_json_uint(json, NULL, task->succeeded);
        rt_json_uint(json, NULL, task->steps);
        rt_json_uint(json, NULL, task->ended_ns - task->arrived_ns);
        rt_json_uint(json, NULL, task->degradations);
        rt_json_array_end(json);
    }
    rt_json_array_end(json);
}

static void write_pair(rt_json *json, const char *key, unsigned __int128 by_task,
                       unsigned __int128 by_dependency) {
    rt_json_object_begin(json, key);
    rt_sim_write_wide(json, "by_task", by_task);
    rt_sim_write_wide(json, "by_dependency", by_dependency);
    rt_json_object_end(json);
}

static void write_conservation(const rt_sim *self, rt_json *json) {
    const rt_sim_totals *const t = &self->totals;
    unsigned __int128 input = 0, cached = 0, output = 0, cost = 0, calls = 0;
    for (uint32_t i = 0; i < self->gates_count; i++) {
        const rt_sim_calls *const counts = &self->gates[i].counts;
        input += counts->tokens_input;
        cached += counts->tokens_cached;
        output += counts->tokens_output;
        cost += counts->cost_pusd;
        calls += counts->calls;
    }
    rt_json_object_begin(json, "conservation");
    write_pair(json, "tokens_input", t->tokens_input, input);
    write_pair(json, "tokens_cached", t->tokens_cached, cached);
    write_pair(json, "tokens_output", t->tokens_output, output);
    write_pair(json, "cost_pusd", t->cost_pusd, cost);
    write_pair(json, "attempts", t->task_attempts, calls);
    rt_json_object_end(json);
}

rt_status rt_sim_record_write(rt_sim *self) {
    const rt_status status = rt_json_create(&self->json);
    if (status != RT_OK) {
        return status;
    }
    rt_json *const json = self->json;
    rt_json_object_begin(json, NULL);
    rt_json_string(json, "outcome", self->outcome);
    rt_json_uint(json, "virtual_ns", self->now_ns);
    rt_json_uint(json, "events", self->events);
    write_tasks(self, json);
    write_load(self, json);
    rt_sim_write_gates(self, json);
    write_retries(self, json);
    write_degradations(self, json);
    rt_sim_write_ceilings(self, json);
    write_groups(self, json);
    write_evaluation(self, json);
    write_conservation(self, json);
    rt_sim_timeline_write(self, json);
    rt_json_object_end(json);
    return rt_json_finish(json, &self->record);
}
