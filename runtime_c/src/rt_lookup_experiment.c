#include "rt_lookup_experiment.h"

#include "rt_random.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 16u /* "role-" and up to 7 digits */
#define CLOCK_READINGS 101u

typedef enum lookup_step {
    SETUP,
    BUILD,
    LOOKUP,
    REMOVAL,
    LOOKUP_AFTER_REMOVAL,
    ADDING,
    FINISHED
} lookup_step;

static const char *const step_names[] = {
    "setup", "build", "lookup", "removal", "lookup_after_removal", "adding", "finished",
};

static const char *const times_names[RT_LOOKUP_TIMES] = {
    [RT_LOOKUP_HIT] = "lookup_hit",
    [RT_LOOKUP_MISS] = "lookup_miss",
    [RT_LOOKUP_HIT_AFTER_REMOVAL] = "lookup_hit_after_removal",
    [RT_LOOKUP_MISS_AFTER_REMOVAL] = "lookup_miss_after_removal",
};

typedef struct role_name {
    char text[NAME_MAX_BYTES];
    uint32_t bytes;
} role_name;

struct rt_lookup_experiment {
    rt_lookup_experiment_options options;
    rt_agent_pool *pool;
    uint32_t *order; /* the roles, shuffled: the first half is removed in this order and added again in it */
    rt_histogram *histograms; /* RT_LOOKUP_TIMES of them */
    rt_lookup_experiment_result result;
    uint64_t clamped;
    _Atomic int step;
    _Atomic int stop_requested;
    _Atomic int executing, finished;
    _Atomic uint64_t tasks_done, started_ns, finished_ns;
};

const char *rt_lookup_times_name(rt_lookup_times which) { return times_names[which]; }

/* ---- create and destroy ---- */

static void shuffle(rt_lookup_experiment *self) {
    rt_random random;
    rt_random_init(&random, self->options.seed);
    for (uint32_t i = 0; i < self->options.agents; i++) {
        const uint32_t at = (uint32_t)rt_random_below(&random, i + 1u);
        self->order[i] = self->order[at];
        self->order[at] = i;
    }
}

static rt_status allocate_parts(rt_lookup_experiment *self) {
    rt_allocator *const allocator = self->options.allocator;
    self->order =
        rt_allocate_owned(allocator, RT_OWNER_VERIFICATION, self->options.agents, sizeof *self->order);
    self->histograms =
        rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, RT_LOOKUP_TIMES, sizeof *self->histograms);
    if (self->order == NULL || self->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    for (unsigned i = 0; i < RT_LOOKUP_TIMES; i++) {
        rt_histogram_init(&self->histograms[i]);
    }
    return RT_OK;
}

rt_status rt_lookup_experiment_create(const rt_lookup_experiment_options *options, rt_lookup_experiment **out,
                                      rt_message *why) {
    *out = NULL;
    if (options->agents == 0 || options->agents > RT_AGENT_POOL_MAX_ROLES) {
        return rt_fail(why, RT_INVALID, "agents is %u; choose 1 to %u registered roles", options->agents,
                       RT_AGENT_POOL_MAX_ROLES);
    }
    if (options->tasks == 0 || options->tasks > RT_LOOKUP_MAX_TASKS) {
        return rt_fail(why, RT_INVALID, "tasks is %llu; choose 1 to %llu lookups",
                       (unsigned long long)options->tasks, (unsigned long long)RT_LOOKUP_MAX_TASKS);
    }
    rt_lookup_experiment *const self = rt_allocate(options->allocator, sizeof *self);
    if (self != NULL) {
        self->options = *options;
        if (allocate_parts(self) == RT_OK) {
            self->result.roles = options->agents;
            shuffle(self);
            *out = self;
            return RT_OK;
        }
        rt_lookup_experiment_destroy(self);
    }
    return rt_fail(why, RT_NO_MEMORY, "no memory for the order of %u roles; choose fewer agents",
                   options->agents);
}

void rt_lookup_experiment_destroy(rt_lookup_experiment *self) {
    if (self != NULL) {
        rt_allocator *const allocator = self->options.allocator;
        rt_agent_pool_destroy(self->pool);
        rt_free_lines(allocator, self->histograms);
        rt_free_lines(allocator, self->order);
        rt_free(allocator, self);
    }
}

/* ---- names ---- */

/* Role r is called "role-r", as in the workload of tasks. */
static role_name name_of(uint32_t role) {
    role_name out = {.text = "role-", .bytes = 5};
    uint32_t unit = 1;
    while (role / unit >= 10u) {
        unit *= 10u;
    }
    for (; unit > 0; unit /= 10u) {
        out.text[out.bytes++] = (char)('0' + (int)(role / unit % 10u));
    }
    return out;
}

static uint32_t removed_roles(const rt_lookup_experiment *self) { return self->options.agents / 2u; }

/* The role that the index-th lookup of this kind asks for. Absent names continue the numbers of the present
 * ones; after the removal the first half of the order is absent, the second present. */
static uint32_t role_asked(const rt_lookup_experiment *self, rt_lookup_times which, uint64_t index) {
    const uint32_t agents = self->options.agents, removed = removed_roles(self);
    const uint64_t random = rt_random_at(self->options.seed + 1u + which, index);
    switch (which) {
    case RT_LOOKUP_HIT:
        return (uint32_t)rt_random_scale(random, agents);
    case RT_LOOKUP_MISS:
        return agents + (uint32_t)rt_random_scale(random, agents);
    case RT_LOOKUP_HIT_AFTER_REMOVAL:
        return self->order[removed + rt_random_scale(random, agents - removed)];
    default:
        return removed > 0 ? self->order[rt_random_scale(random, removed)] : agents;
    }
}

static bool is_hit(rt_lookup_times which) {
    return which == RT_LOOKUP_HIT || which == RT_LOOKUP_HIT_AFTER_REMOVAL;
}

/* ---- the steps ---- */

static bool must_stop(const rt_lookup_experiment *self) {
    return atomic_load_explicit(&self->stop_requested, memory_order_relaxed) != 0;
}

static uint64_t now_ns(const rt_lookup_experiment *self) { return rt_clock_now_ns(self->options.clock); }

static uint64_t since_ns(rt_lookup_experiment *self, uint64_t start_ns) {
    return rt_clock_interval_ns(start_ns, now_ns(self), &self->clamped);
}

static int by_value(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void measure_clock(rt_lookup_experiment *self) {
    uint64_t readings[CLOCK_READINGS];
    for (unsigned i = 0; i < CLOCK_READINGS; i++) {
        const uint64_t start_ns = now_ns(self);
        readings[i] = since_ns(self, start_ns);
    }
    qsort(readings, CLOCK_READINGS, sizeof *readings, by_value);
    self->result.clock_read_ns = readings[CLOCK_READINGS / 2u];
}

typedef rt_status change(rt_agent_pool *pool, const role_name *name);

static rt_status add(rt_agent_pool *pool, const role_name *name) {
    return rt_agent_pool_add(pool, name->text, name->bytes, "", 0);
}

static rt_status take_away(rt_agent_pool *pool, const role_name *name) {
    return rt_agent_pool_remove(pool, name->text, name->bytes);
}

/* Applies the change to `count` roles, in the order of their numbers or in the shuffled one. */
static rt_status change_roles(rt_lookup_experiment *self, change *apply, uint32_t count, bool shuffled,
                              uint64_t *total_ns) {
    for (uint32_t done = 0; done < count;) {
        role_name names[RT_LOOKUP_BATCH];
        const uint32_t batch = count - done < RT_LOOKUP_BATCH ? count - done : RT_LOOKUP_BATCH;
        rt_status status = must_stop(self) ? RT_STOPPED : RT_OK;
        for (uint32_t i = 0; i < batch; i++) {
            names[i] = name_of(shuffled ? self->order[done + i] : done + i);
        }
        const uint64_t start_ns = now_ns(self);
        for (uint32_t i = 0; i < batch && status == RT_OK; i++) {
            status = apply(self->pool, &names[i]);
        }
        *total_ns += since_ns(self, start_ns);
        if (status != RT_OK) {
            return status;
        }
        done += batch;
    }
    return RT_OK;
}

static void judge(rt_lookup_answers *answers, bool hit, const role_name *asked, const rt_agent_role *role) {
    if (hit && role != NULL && role->name_bytes == asked->bytes &&
        memcmp(role->name, asked->text, asked->bytes) == 0) {
        answers->found++;
    } else if (!hit && role == NULL) {
        answers->not_found++;
    } else {
        answers->wrong++;
    }
}

static void look_up(rt_lookup_experiment *self, rt_lookup_times which, uint64_t index, uint32_t count,
                    rt_lookup_answers *answers) {
    role_name names[RT_LOOKUP_BATCH];
    const rt_agent_role *roles[RT_LOOKUP_BATCH];
    for (uint32_t i = 0; i < count; i++) {
        names[i] = name_of(role_asked(self, which, index + i));
    }
    const uint64_t start_ns = now_ns(self);
    for (uint32_t i = 0; i < count; i++) {
        roles[i] = rt_agent_pool_find(self->pool, names[i].text, names[i].bytes);
    }
    rt_histogram_record(&self->histograms[which], (since_ns(self, start_ns) + count / 2u) / count);
    for (uint32_t i = 0; i < count; i++) {
        judge(answers, is_hit(which), &names[i], roles[i]);
    }
}

static uint32_t batch_of(uint64_t left) { return left < RT_LOOKUP_BATCH ? (uint32_t)left : RT_LOOKUP_BATCH; }

/* `tasks` lookups, the greater half of them hits, batches of both by turns. */
static rt_status look_up_all(rt_lookup_experiment *self, rt_lookup_times hit, rt_lookup_answers *answers,
                             _Atomic uint64_t *done) {
    const uint64_t tasks = self->options.tasks, misses = tasks / 2u, hits = tasks - misses;
    for (uint64_t at = 0; at < hits; at += RT_LOOKUP_BATCH) {
        if (must_stop(self)) {
            return RT_STOPPED;
        }
        look_up(self, hit, at, batch_of(hits - at), answers);
        if (at < misses) {
            look_up(self, hit + 1, at, batch_of(misses - at), answers);
        }
        if (done != NULL) {
            atomic_store_explicit(done, answers->found + answers->not_found + answers->wrong,
                                  memory_order_relaxed);
        }
    }
    return RT_OK;
}

static rt_status build(rt_lookup_experiment *self, rt_message *why) {
    const uint64_t start_ns = now_ns(self);
    const rt_status status =
        rt_agent_pool_create(self->options.allocator, self->options.agents, &self->pool, why);
    self->result.build_ns = since_ns(self, start_ns);
    return status == RT_OK ? change_roles(self, add, self->options.agents, false, &self->result.build_ns)
                           : status;
}

static rt_status do_step(rt_lookup_experiment *self, lookup_step step, rt_message *why) {
    rt_lookup_experiment_result *const result = &self->result;
    rt_status status;
    switch (step) {
    case BUILD:
        status = build(self, why);
        if (status == RT_OK) {
            rt_agent_pool_measure(self->pool, &result->built);
        }
        return status;
    case LOOKUP:
        return look_up_all(self, RT_LOOKUP_HIT, &result->lookups, &self->tasks_done);
    case REMOVAL:
        status = change_roles(self, take_away, removed_roles(self), true, &result->remove_ns);
        result->removed = self->options.agents - rt_agent_pool_count(self->pool);
        rt_agent_pool_measure(self->pool, &result->after_removal);
        return status;
    case LOOKUP_AFTER_REMOVAL:
        return look_up_all(self, RT_LOOKUP_HIT_AFTER_REMOVAL, &result->lookups_after_removal, NULL);
    default:
        return change_roles(self, add, removed_roles(self), true, &result->add_again_ns);
    }
}

static rt_status do_steps(rt_lookup_experiment *self, rt_message *why) {
    measure_clock(self);
    for (lookup_step step = BUILD; step < FINISHED; step++) {
        atomic_store(&self->step, (int)step);
        const rt_status status = do_step(self, step, why);
        if (status != RT_OK) {
            return rt_fail(why, status, "the step %s broke off: %s", step_names[step],
                           rt_status_text(status));
        }
    }
    atomic_store(&self->step, (int)FINISHED);
    self->result.completed = true;
    return RT_OK;
}

rt_status rt_lookup_experiment_execute(rt_lookup_experiment *self, rt_message *why) {
    int no = 0;
    if (atomic_load(&self->finished) || !atomic_compare_exchange_strong(&self->executing, &no, 1)) {
        return rt_fail(why, RT_BUSY, "this run was executed already; create another");
    }
    self->result.started_at_s = rt_clock_wall_s(self->options.clock);
    self->result.started_ns = now_ns(self);
    atomic_store(&self->started_ns, self->result.started_ns);
    const rt_status status = do_steps(self, why);
    self->result.finished_ns = now_ns(self);
    atomic_store(&self->finished_ns, self->result.finished_ns);
    atomic_store(&self->finished, 1);
    atomic_store(&self->executing, 0);
    return status;
}

void rt_lookup_experiment_request_stop(rt_lookup_experiment *self) { atomic_store(&self->stop_requested, 1); }

/* ---- afterwards ---- */

void rt_lookup_experiment_progress(const rt_lookup_experiment *self, rt_experiment_progress *out) {
    const bool finished = atomic_load(&self->finished) != 0;
    const uint64_t start_ns = atomic_load(&self->started_ns);
    const uint64_t done = atomic_load_explicit(&self->tasks_done, memory_order_relaxed);
    const uint64_t end_ns = finished ? atomic_load(&self->finished_ns) : now_ns(self);
    *out = (rt_experiment_progress){.step = step_names[atomic_load(&self->step)],
                                    .executing = atomic_load(&self->executing) != 0,
                                    .finished = finished,
                                    .tasks = self->options.tasks,
                                    .tasks_begun = done,
                                    .tasks_done = done,
                                    .elapsed_ns = start_ns != 0 && end_ns > start_ns ? end_ns - start_ns : 0};
}

/* Every role is there again, and nothing else. */
static bool all_present(const rt_lookup_experiment *self) {
    bool present = self->pool != NULL && rt_agent_pool_count(self->pool) == self->options.agents;
    for (uint32_t role = 0; present && role < self->options.agents; role++) {
        const role_name asked = name_of(role);
        present = rt_agent_pool_find(self->pool, asked.text, asked.bytes) != NULL;
    }
    return present;
}

rt_status rt_lookup_experiment_verify(rt_lookup_experiment *self, rt_message *why) {
    if (atomic_load(&self->finished) == 0) {
        return rt_fail(why, RT_BUSY, "the run is not finished; execute it first");
    }
    const rt_lookup_experiment_result *const result = &self->result;
    const uint64_t misses = self->options.tasks / 2u, hits = self->options.tasks - misses;
    const struct {
        const char *name;
        bool holds;
    } rules[] = {
        {"the last step", result->completed},
        {"wrong", result->lookups.wrong == 0 && result->lookups_after_removal.wrong == 0},
        {"found", result->lookups.found == hits},
        {"not_found", result->lookups.not_found == misses},
        {"removed", result->removed == removed_roles(self)},
        {"found after the removal", result->lookups_after_removal.found == hits},
        {"not_found after the removal", result->lookups_after_removal.not_found == misses},
        {"roles", result->built.roles == self->options.agents && all_present(self)},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].holds) {
            self->result.passed = false;
            return rt_fail(why, RT_FAILED, "%s is not what the formulas require", rules[i].name);
        }
    }
    self->result.passed = true;
    return RT_OK;
}

rt_status rt_lookup_experiment_result_read(const rt_lookup_experiment *self,
                                           rt_lookup_experiment_result *out) {
    if (atomic_load(&self->finished) == 0) {
        return RT_BUSY;
    }
    *out = self->result;
    return RT_OK;
}

const rt_histogram *rt_lookup_experiment_histogram(const rt_lookup_experiment *self, rt_lookup_times which) {
    return &self->histograms[which];
}
