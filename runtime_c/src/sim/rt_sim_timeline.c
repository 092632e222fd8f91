/* What there is at equal distances of time: tasks, waiters, and the headroom of every bucket. */
#include "rt_sim_state.h"

#include <stdio.h>
#include <string.h>

#define FIRST_COLUMNS 5u
#define PROVIDER_COLUMNS 5u
#define TOOL_COLUMNS 3u
#define NOTHING INT64_MIN

rt_status rt_sim_timeline_init(rt_sim *self) {
    const rt_sim_scenario *const scenario = &self->scenario;
    if (scenario->timeline_ns == 0) {
        return RT_OK;
    }
    self->timeline_columns =
        FIRST_COLUMNS + PROVIDER_COLUMNS * scenario->providers_count + TOOL_COLUMNS * scenario->tools_count;
    self->timeline_ns = scenario->timeline_ns;
    self->timeline = rt_allocate_array(&self->allocator, scenario->timeline_rows,
                                       self->timeline_columns * sizeof *self->timeline);
    return self->timeline == NULL ? RT_NO_MEMORY : RT_OK;
}

static int64_t headroom(rt_sim_bucket *bucket, uint64_t now_ns) {
    if (bucket->per_min == 0) {
        return NOTHING;
    }
    rt_sim_bucket_refill(bucket, now_ns);
    return (int64_t)rt_sim_bucket_permille(bucket, bucket->level);
}

static void fill(rt_sim *self, int64_t *row) {
    const uint32_t workers = self->scenario.workers;
    *row++ = (int64_t)self->now_ns;
    *row++ = (int64_t)self->in_flight.value;
    *row++ = (int64_t)self->waiting;
    *row++ = (int64_t)rt_sim_queue_age(self);
    *row++ = workers == 0 ? NOTHING : (int64_t)(workers - self->busy.value);
    for (uint32_t i = 0; i < self->gates_count; i++) {
        rt_sim_gate *const gate = &self->gates[i];
        if (i < self->scenario.providers_count) {
            *row++ = headroom(&gate->tokens, self->now_ns);
        }
        *row++ = headroom(&gate->requests, self->now_ns);
        *row++ = (int64_t)gate->in_flight;
        *row++ = (int64_t)gate->line.count;
        if (i < self->scenario.providers_count) {
            *row++ = gate->kv_tokens == 0 ? NOTHING : (int64_t)gate->kv_used;
        }
    }
}

/* Every second row goes, and from here on they are twice as far apart. */
static void thin_out(rt_sim *self) {
    const size_t bytes = self->timeline_columns * sizeof *self->timeline;
    const uint32_t kept = (self->timeline_count + 1u) / 2u;
    for (uint32_t i = 1; i < kept; i++) {
        memcpy(self->timeline + (size_t)i * self->timeline_columns,
               self->timeline + (size_t)2 * i * self->timeline_columns, bytes);
    }
    self->timeline_count = kept;
    self->timeline_ns *= 2u;
}

void rt_sim_timeline_sample(rt_sim *self, uint32_t slot) {
    if (self->timeline_count == self->scenario.timeline_rows) {
        thin_out(self);
    }
    if (self->now_ns % self->timeline_ns == 0) {
        fill(self, self->timeline + (size_t)self->timeline_count * self->timeline_columns);
        self->timeline_count++;
    }
    const uint64_t next_ns = rt_sim_after(self->now_ns - self->now_ns % self->timeline_ns, self->timeline_ns);
    rt_sim_plan(self, slot, RT_SIM_STATE_TIMELINE, next_ns);
}

static void write_name(rt_json *json, const char *kind, const char *name, const char *what) {
    char text[256];
    snprintf(text, sizeof text, "%s:%s:%s", kind, name, what);
    rt_json_string(json, NULL, text);
}

static void write_columns(const rt_sim *self, rt_json *json) {
    static const char *const first[FIRST_COLUMNS] = {"t_ns", "in_flight", "queue", "queue_age_ns",
                                                     "slots_free"};
    static const char *const provider[PROVIDER_COLUMNS] = {
        "tokens_headroom_permille", "requests_headroom_permille", "in_flight", "waiting", "kv_tokens"};
    static const char *const tool[TOOL_COLUMNS] = {"rate_headroom_permille", "in_flight", "waiting"};
    rt_json_array_begin(json, "columns");
    for (uint32_t k = 0; k < FIRST_COLUMNS; k++) {
        rt_json_string(json, NULL, first[k]);
    }
    for (uint32_t i = 0; i < self->scenario.providers_count; i++) {
        for (uint32_t k = 0; k < PROVIDER_COLUMNS; k++) {
            write_name(json, "provider", self->scenario.providers[i].name, provider[k]);
        }
    }
    for (uint32_t i = 0; i < self->scenario.tools_count; i++) {
        for (uint32_t k = 0; k < TOOL_COLUMNS; k++) {
            write_name(json, "tool", self->scenario.tools[i].name, tool[k]);
        }
    }
    rt_json_array_end(json);
}

void rt_sim_timeline_write(const rt_sim *self, rt_json *json) {
    if (self->timeline == NULL) {
        rt_json_null(json, "timeline");
        return;
    }
    rt_json_object_begin(json, "timeline");
    rt_json_uint(json, "interval_ns", self->timeline_ns);
    write_columns(self, json);
    rt_json_array_begin(json, "rows");
    for (uint32_t i = 0; i < self->timeline_count; i++) {
        const int64_t *const row = self->timeline + (size_t)i * self->timeline_columns;
        rt_json_array_begin(json, NULL);
        for (uint32_t k = 0; k < self->timeline_columns; k++) {
            if (row[k] == NOTHING) {
                rt_json_null(json, NULL);
            } else {
                rt_json_int(json, NULL, row[k]);
            }
        }
        rt_json_array_end(json);
    }
    rt_json_array_end(json);
    rt_json_object_end(json);
}
