#include "rt_task_body.h"

#include "rt_agent_pool.h"
#include "rt_random.h"

#include <stdalign.h>
#include <string.h>

static const char role_prefix[] = "role-";
static const char role_instruction[] =
    "You hold this role for one task. Use only the shared context, quote the passage that you rely on, "
    "say so when the context does not answer, and stop after one paragraph.";
static const char task_prefix[] = "Task ";
static const char task_suffix[] = ": probe the shared context and report the sum of what you read.";

#define TEXT_BYTES(literal) (sizeof(literal) - 1u)
#define DIGITS_MAX 20u
#define NAME_MAX_BYTES (TEXT_BYTES(role_prefix) + DIGITS_MAX)
#define TASK_MAX_BYTES (TEXT_BYTES(task_prefix) + DIGITS_MAX + TEXT_BYTES(task_suffix))
#define PROMPT_MAX_BYTES                                                                                     \
    (RT_AGENT_PROMPT_FRAME_BYTES + NAME_MAX_BYTES + TEXT_BYTES(role_instruction) + TASK_MAX_BYTES)

/* Of one worker; nobody else writes it. */
typedef struct body_worker {
    alignas(RT_LINE_BYTES) rt_task_body_counts counts;
    char prompt[PROMPT_MAX_BYTES];
} body_worker;

struct rt_task_body {
    rt_task_body_options options;
    rt_agent_pool *roles;
    rt_context_store *context;
    rt_context_snapshot *pinned; /* what the tasks read instead of the head; NULL: none */
    body_worker *workers;
    rt_histogram *lookups; /* one a worker */
    rt_histogram *prompts;
};

/* ---- text ---- */

static size_t count_digits(uint64_t value) {
    size_t digits = 1;
    while (value >= 10u) {
        value /= 10u;
        digits++;
    }
    return digits;
}

static char *append(char *at, const char *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

static char *append_number(char *at, uint64_t value) {
    char *const end = at + count_digits(value);
    char *digit = end;
    do {
        *--digit = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (digit != at);
    return end;
}

static size_t write_name(char *out, uint64_t role) {
    return (size_t)(append_number(append(out, role_prefix, TEXT_BYTES(role_prefix)), role) - out);
}

static size_t write_task(char *out, uint64_t task_id) {
    char *const number = append(out, task_prefix, TEXT_BYTES(task_prefix));
    return (size_t)(append(append_number(number, task_id), task_suffix, TEXT_BYTES(task_suffix)) - out);
}

static uint64_t role_of(const rt_task_body *self, uint64_t task_id) {
    return rt_random_scale(rt_random_at(~self->options.seed, task_id), self->options.agents);
}

/* ---- create and destroy ---- */

static rt_status check_options(const rt_task_body_options *options, rt_message *why) {
    if (options->probes > RT_TASK_BODY_MAX_PROBES) {
        return rt_fail(why, RT_INVALID, "probes is %u; choose 0 to %u", options->probes,
                       RT_TASK_BODY_MAX_PROBES);
    }
    if (options->output_bytes > RT_TASK_BODY_MAX_OUTPUT_BYTES) {
        return rt_fail(why, RT_INVALID, "output_bytes is %u; choose 0 to %u", options->output_bytes,
                       RT_TASK_BODY_MAX_OUTPUT_BYTES);
    }
    return RT_OK;
}

static rt_status register_roles(rt_task_body *self, rt_message *why) {
    rt_status status = rt_agent_pool_create(self->options.allocator, self->options.agents, &self->roles, why);
    for (uint32_t role = 0; status == RT_OK && role < self->options.agents; role++) {
        char name[NAME_MAX_BYTES];
        status = rt_agent_pool_add(self->roles, name, write_name(name, role), role_instruction,
                                   TEXT_BYTES(role_instruction));
        if (status != RT_OK) {
            rt_fail(why, status, "role %u of %u could not be registered: %s; choose fewer agents", role + 1,
                    self->options.agents, rt_status_text(status));
        }
    }
    return status;
}

static rt_status allocate_workers(rt_task_body *self, rt_message *why) {
    rt_allocator *const allocator = self->options.allocator;
    const uint32_t count = self->options.workers;
    self->workers = rt_allocate_lines(allocator, count, sizeof *self->workers);
    self->lookups = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, count, sizeof *self->lookups);
    self->prompts = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, count, sizeof *self->prompts);
    if (self->workers == NULL || self->lookups == NULL || self->prompts == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the state of %u workers; choose fewer", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        self->lookups[i].min_ns = UINT64_MAX;
        self->prompts[i].min_ns = UINT64_MAX;
    }
    return RT_OK;
}

rt_status rt_task_body_create(const rt_task_body_options *options, rt_task_body **out, rt_message *why) {
    *out = NULL;
    rt_status status = check_options(options, why);
    if (status != RT_OK) {
        return status;
    }
    rt_task_body *const self = rt_allocate(options->allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the task body; free some and run again");
    }
    self->options = *options;
    status = register_roles(self, why);
    if (status == RT_OK) {
        status = rt_context_store_create(options->allocator, options->context_bytes, options->seed,
                                         &self->context, why);
    }
    if (status == RT_OK) {
        status = allocate_workers(self, why);
    }
    if (status != RT_OK) {
        rt_task_body_destroy(self);
        return status;
    }
    *out = self;
    return RT_OK;
}

void rt_task_body_destroy(rt_task_body *self) {
    if (self == NULL) {
        return;
    }
    rt_allocator *const allocator = self->options.allocator;
    rt_free_lines(allocator, self->prompts);
    rt_free_lines(allocator, self->lookups);
    rt_free_lines(allocator, self->workers);
    rt_context_snapshot_drop(self->pinned);
    rt_context_store_destroy(self->context);
    rt_agent_pool_destroy(self->roles);
    rt_free(allocator, self);
}

/* ---- the work ---- */

static const rt_agent_role *look_up(rt_task_body *self, body_worker *worker, uint64_t task_id) {
    char name[NAME_MAX_BYTES];
    const size_t name_bytes = write_name(name, role_of(self, task_id));
    const rt_agent_role *const role = rt_agent_pool_find(self->roles, name, name_bytes);
    worker->counts.role_lookups++;
    worker->counts.lookups_failed += role == NULL;
    return role;
}

static void assemble(body_worker *worker, const rt_agent_role *role, uint64_t task_id) {
    char text[TASK_MAX_BYTES];
    size_t prompt_bytes;
    const size_t text_bytes = write_task(text, task_id);
    rt_agent_pool_prompt(role, text, text_bytes, worker->prompt, sizeof worker->prompt, &prompt_bytes);
    worker->counts.prompt_bytes += prompt_bytes;
}

static const rt_agent_role *prepare(rt_task_body *self, body_worker *worker, uint64_t task_id) {
    const rt_agent_role *const role = look_up(self, worker, task_id);
    if (role != NULL) {
        assemble(worker, role, task_id);
    }
    return role;
}

/* The same with the time of each part. */
static const rt_agent_role *prepare_timed(rt_task_body *self, body_worker *worker, const rt_task_run *run) {
    const rt_clock *const clock = self->options.clock;
    uint64_t *const clamped = &worker->counts.clamped_intervals;
    const uint64_t start_ns = rt_clock_now_ns(clock);
    const rt_agent_role *const role = look_up(self, worker, run->task_id);
    const uint64_t found_ns = rt_clock_now_ns(clock);
    rt_histogram_record(&self->lookups[run->worker], rt_clock_interval_ns(start_ns, found_ns, clamped));
    if (role != NULL) {
        assemble(worker, role, run->task_id);
        const uint64_t done_ns = rt_clock_now_ns(clock);
        rt_histogram_record(&self->prompts[run->worker], rt_clock_interval_ns(found_ns, done_ns, clamped));
    }
    return role;
}

static void write_output(rt_task_run *run, uint32_t bytes, uint64_t sum) {
    uint32_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(run->output + at, &sum, 8);
    }
    memcpy(run->output + at, &sum, bytes - at);
    run->output_bytes = bytes;
}

/* What one task adds to the sum over all tasks; addition makes their order irrelevant. */
static uint64_t task_checksum(uint64_t task_id, uint64_t sum) {
    return rt_random_mix(sum + rt_random_mix(task_id));
}

static uint64_t probe(const rt_task_body *self, uint64_t task_id) {
    const rt_task_body_options *const options = &self->options;
    return self->pinned == NULL
               ? rt_context_store_probe(self->context, options->pattern, task_id, options->probes)
               : rt_context_snapshot_probe(self->pinned, options->pattern, task_id, options->probes);
}

rt_status rt_task_body_run(void *body, rt_task_run *run) {
    rt_task_body *const self = body;
    body_worker *const worker = &self->workers[run->worker];
    const uint32_t output_bytes = self->options.output_bytes;
    if (run->output_capacity_bytes < output_bytes) {
        return RT_TOO_SMALL;
    }
    const rt_agent_role *const role =
        run->sampled ? prepare_timed(self, worker, run) : prepare(self, worker, run->task_id);
    if (role == NULL) {
        return RT_NOT_FOUND;
    }
    const uint64_t sum = probe(self, run->task_id);
    write_output(run, output_bytes, sum);
    worker->counts.probes_done += self->options.probes;
    worker->counts.output_bytes_written += output_bytes;
    worker->counts.probe_checksum += task_checksum(run->task_id, sum);
    return RT_OK;
}

/* ---- afterwards ---- */

void rt_task_body_count(const rt_task_body *self, rt_task_body_counts *out) {
    *out = (rt_task_body_counts){.role_lookups = 0};
    for (uint32_t i = 0; i < self->options.workers; i++) {
        const rt_task_body_counts *const counts = &self->workers[i].counts;
        out->role_lookups += counts->role_lookups;
        out->lookups_failed += counts->lookups_failed;
        out->prompt_bytes += counts->prompt_bytes;
        out->probes_done += counts->probes_done;
        out->output_bytes_written += counts->output_bytes_written;
        out->clamped_intervals += counts->clamped_intervals;
        out->probe_checksum += counts->probe_checksum;
    }
}

void rt_task_body_expect(const rt_task_body *self, uint64_t task_id, rt_task_body_counts *sum) {
    const rt_task_body_options *const options = &self->options;
    const size_t name_bytes = TEXT_BYTES(role_prefix) + count_digits(role_of(self, task_id));
    const size_t task_bytes = TEXT_BYTES(task_prefix) + count_digits(task_id) + TEXT_BYTES(task_suffix);
    sum->role_lookups++;
    sum->prompt_bytes += RT_AGENT_PROMPT_FRAME_BYTES + name_bytes + TEXT_BYTES(role_instruction) + task_bytes;
    sum->probes_done += options->probes;
    sum->output_bytes_written += options->output_bytes;
    sum->probe_checksum +=
        task_checksum(task_id, rt_context_expected_probe(options->seed, options->context_bytes,
                                                         options->pattern, task_id, options->probes));
}

rt_context_store *rt_task_body_context(rt_task_body *self) { return self->context; }

rt_status rt_task_body_pin(rt_task_body *self, rt_message *why) {
    return self->pinned == NULL ? rt_context_snapshot_take(self->context, &self->pinned, why)
                                : rt_fail(why, RT_EXISTS, "the tasks read a snapshot already");
}

uint64_t rt_task_body_context_checksum(const rt_task_body *self) {
    return rt_context_store_checksum(self->context);
}

uint64_t rt_task_body_context_expected(const rt_task_body *self) {
    return rt_context_expected_checksum(self->options.seed, self->options.context_bytes);
}

void rt_task_body_merge_lookup(const rt_task_body *self, rt_histogram *into) {
    for (uint32_t i = 0; i < self->options.workers; i++) {
        rt_histogram_merge(into, &self->lookups[i]);
    }
}

void rt_task_body_merge_prompt(const rt_task_body *self, rt_histogram *into) {
    for (uint32_t i = 0; i < self->options.workers; i++) {
        rt_histogram_merge(into, &self->prompts[i]);
    }
}

void rt_task_body_account(const rt_task_body *self, rt_task_body_bytes *out) {
    rt_context_bytes context;
    rt_context_store_account(self->context, &context);
    *out = (rt_task_body_bytes){.runtime_bytes = sizeof *self + rt_agent_pool_bytes(self->roles) +
                                                 context.table_bytes +
                                                 self->options.workers * sizeof *self->workers,
                                .context_bytes = context.content_bytes + context.copy_bytes,
                                .histogram_bytes = 2u * self->options.workers * sizeof(rt_histogram)};
}
