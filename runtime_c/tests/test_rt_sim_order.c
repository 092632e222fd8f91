/* Who goes first: in the lines of a limit, and in the queue for a worker slot. And what is drawn. */
#include "sim_fixture.h"

static fixture f;
static uint32_t ids[64];

static void trace_everybody(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = i;
    }
    f.scenario.trace_ids = ids;
    f.scenario.trace_count = count;
}

/* The times at which the spans of a kind started, by task: checks that nobody overtook anybody. */
static void check_first_in_first_out(const rt_sim *sim, uint32_t kind) {
    size_t count;
    const rt_sim_span *const spans = rt_sim_spans(sim, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const bool both = spans[i].kind == kind && spans[k].kind == kind;
            CHECK(!both || spans[i].asked_ns >= spans[k].asked_ns ||
                  spans[i].started_ns <= spans[k].started_ns);
        }
    }
}

/* Prompts of very different size: a small call does not overtake a large one that came before it. */
static void nobody_overtakes_in_the_line_of_a_limit(void) {
    for (unsigned limit = 0; limit < 4; limit++) {
        fixture_init(&f);
        f.scenario.tasks = 40;
        f.scenario.arrival = RT_SIM_POISSON;
        f.scenario.gap_ns = SECOND / 4;
        f.values[40] = 1;
        f.values[41] = 400;
        f.classes[0].document_tokens = (rt_sim_distribution){RT_SIM_QUANTILES, 40, 2};
        f.providers[0].tokens_per_min = limit == 0 ? 3000 : 0;
        f.providers[0].requests_per_min = limit == 1 ? 20 : 0;
        f.providers[0].concurrency = limit == 2 ? 2 : 0;
        f.providers[0].kv_tokens = limit == 3 ? 800 : 0;
        trace_everybody(40);
        rt_sim *const sim = run_scenario(&f);
        check_sums(sim);
        CHECK(sim->gates[0].ceilings[limit].hits > 10);
        check_first_in_first_out(sim, RT_SIM_SPAN_MODEL);
        rt_sim_destroy(sim);
    }
}

static void a_tool_has_its_own_line(void) {
    fixture_init(&f);
    f.scenario.tasks = 20;
    f.tools[0].concurrency = 1;
    trace_everybody(20);
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    check_first_in_first_out(sim, RT_SIM_SPAN_TOOL);
    CHECK_UINT(1, sim->gates[1].in_flight_max);
    CHECK(sim->gates[1].ceilings[RT_SIM_LIMIT_CONCURRENCY].waited_ns > 0);
    CHECK_UINT(0, sim->gates[0].ceilings[RT_SIM_LIMIT_CONCURRENCY].hits);
    rt_sim_destroy(sim);
}

/* One worker, everybody there at once; tenant by class. The order of the starts, one digit a task. */
static void check_order(uint32_t discipline, const char *expected) {
    char order[16] = "";
    f.scenario.discipline = discipline;
    f.scenario.workers = 1;
    f.scenario.arrival = RT_SIM_BURST;
    f.scenario.tasks = f.scenario.burst_tasks = 13;
    f.scenario.tenants_count = f.scenario.classes_count = 2;
    f.classes[1].tenant = 1;
    trace_everybody(13);
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    size_t count;
    const rt_sim_span *const spans = rt_sim_spans(sim, &count);
    for (size_t i = 0, k = 0; i < count; i++) {
        if (spans[i].kind == RT_SIM_SPAN_TASK) {
            uint32_t tenant = 0;
            size_t tasks;
            const rt_sim_task *const ended = rt_sim_slowest(sim, &tasks);
            for (size_t t = 0; t < tasks; t++) {
                tenant = ended[t].task == spans[i].task ? ended[t].tenant : tenant;
            }
            order[k++] = (char)('0' + tenant);
        }
    }
    CHECK_TEXT(expected, order);
    rt_sim_destroy(sim);
}

/* Which tenant each task is of comes from the draw itself. */
static void disciplines(void) {
    char fifo[16] = "";
    fixture_init(&f);
    for (uint32_t task = 0; task < 13; task++) {
        const uint64_t key = rt_sim_draw(1, task, RT_SIM_DRAW_ORIGIN, (rt_sim_place){0});
        fifo[task] = (char)('0' + rt_random_scale(key, 2));
    }
    check_order(RT_SIM_FIFO, fifo);
    /* The first one finds the worker free; then all of tenant 1, whose priority is better, then all of tenant 0. */
    unsigned ones = 0;
    for (unsigned i = 1; i < 13; i++) {
        ones += fifo[i] == '1';
    }
    char expected[16] = "";
    expected[0] = fifo[0];
    for (unsigned i = 1; i < 13; i++) {
        expected[i] = i <= ones ? '1' : '0';
    }
    f.tenants[0].priority = 3;
    check_order(RT_SIM_PRIORITY, expected);
    /* Weights 1 and 2: of each three starts two are of tenant 1, while both wait. */
    CHECK(ones >= 4 && ones <= 9);
    f.tenants[1].weight = 2;
    f.scenario.trace_count = 0;
    f.scenario.discipline = RT_SIM_FAIR;
    rt_sim *const sim = run_scenario(&f);
    CHECK(sim->tenants[1].wait_sum_ns / sim->tenants[1].arrived <
          sim->tenants[0].wait_sum_ns / sim->tenants[0].arrived);
    rt_sim_destroy(sim);
}

/* Two tenants always waiting, weights 1 and 3: of 400 starts 100 and 300 (one more or less at the edges). */
static void fair_share_keeps_the_weights(void) {
    fixture_init(&f);
    f.scenario.discipline = RT_SIM_FAIR;
    f.scenario.workers = 1;
    f.scenario.arrival = RT_SIM_BURST;
    f.scenario.tasks = f.scenario.burst_tasks = 2000;
    f.scenario.tenants_count = f.scenario.classes_count = 2;
    f.classes[1].tenant = 1;
    f.tenants[1].weight = 3;
    f.values[VALUE_STEPS] = 1;
    f.scenario.deadline_ns = 400 * SECOND;
    rt_sim *const sim = run_scenario(&f);
    CHECK(sim->tenants[0].finished >= 99 && sim->tenants[0].finished <= 101);
    CHECK_UINT(400, sim->tenants[0].finished + sim->tenants[1].finished);
    rt_sim_destroy(sim);
}

/* The same task wants the same at every load. */
static void load_does_not_change_what_a_task_draws(void) {
    fixture_init(&f);
    f.values[20] = 1;
    f.values[21] = 9;
    f.values[22] = 100;
    f.values[23] = 900;
    f.classes[0].steps = (rt_sim_distribution){RT_SIM_QUANTILES, 20, 2};
    f.classes[0].output_tokens = (rt_sim_distribution){RT_SIM_QUANTILES, 22, 2};
    f.classes[0].success = CERTAIN / 2;
    f.scenario.tasks = 50;
    for (uint32_t i = 0; i < 50; i++) {
        ids[i] = i;
    }
    f.scenario.evaluation_ids = ids;
    f.scenario.evaluation_count = 50;
    rt_sim *const idle = run_scenario(&f);
    f.scenario.gap_ns = SECOND / 100;
    f.scenario.workers = 2;
    f.providers[0].requests_per_min = 60;
    rt_sim *const loaded = run_scenario(&f);
    CHECK(loaded->now_ns > idle->now_ns);
    unsigned succeeded = 0;
    for (uint32_t i = 0; i < 50; i++) {
        CHECK_UINT(i, loaded->evaluated[i].task);
        CHECK_UINT(idle->evaluated[i].steps, loaded->evaluated[i].steps);
        CHECK_UINT(idle->evaluated[i].tokens_output, loaded->evaluated[i].tokens_output);
        CHECK_UINT(idle->evaluated[i].succeeded, loaded->evaluated[i].succeeded);
        succeeded += idle->evaluated[i].succeeded;
    }
    CHECK(succeeded > 10 && succeeded < 40);
    rt_sim_destroy(idle);
    rt_sim_destroy(loaded);
}

int main(void) {
    nobody_overtakes_in_the_line_of_a_limit();
    a_tool_has_its_own_line();
    disciplines();
    fair_share_keeps_the_weights();
    load_does_not_change_what_a_task_draws();
    return check_done();
}
