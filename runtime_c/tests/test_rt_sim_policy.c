/* Degradations, recorded tasks, closed loops, and scenarios that are refused. */
#include "sim_fixture.h"

static fixture f;

/* 100 + 10 output + 5 result a step: prompts 100, 115, 130 (…). Above 120 the big model is replaced, the context
 * is cut to 110, and the task's chance of success falls to nothing. */
static void context_above_falls_back_and_truncates(void) {
    fixture_init(&f);
    f.scenario.models_count = 2;
    f.models[1].base_ns = SECOND / 2;
    f.scenario.degradations_count = 2;
    f.degradations[0] = (rt_sim_degradation){.name = "small",
                                             .state = RT_SIM_FALLBACK_MODEL,
                                             .condition = RT_SIM_CONTEXT_ABOVE,
                                             .threshold = 120,
                                             .model = 1,
                                             .success_delta = -(int64_t)CERTAIN};
    f.degradations[1] = (rt_sim_degradation){.name = "cut",
                                             .state = RT_SIM_TRUNCATE_CONTEXT,
                                             .condition = RT_SIM_CONTEXT_ABOVE,
                                             .threshold = 120,
                                             .keep_tokens = 110};
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(100 + 115 + 110, sim->gates[0].counts.tokens_input);
    CHECK_UINT(1, sim->models[1].calls);
    CHECK_UINT(6 * SECOND + SECOND / 2, sim->now_ns);
    CHECK_UINT(1, sim->degraded[0].tasks);
    CHECK_UINT(6 * SECOND, sim->degraded[0].onset_ns);
    CHECK_UINT(1, sim->totals.finished);
    CHECK_UINT(0, sim->totals.succeeded);
    rt_sim_destroy(sim);
}

/* Two more tasks wait while one runs: the third arrival (two waiting) is shed; effort is lowered at each step at
 * which one waits: of 3 steps 2 are left after the factor 0.5 at the first (1.5 is rounded up), with 5 tokens
 * instead of 10. */
static void a_deep_queue_sheds_and_lowers_the_effort(void) {
    fixture_init(&f);
    f.scenario.tasks = 4;
    f.scenario.workers = 1;
    f.scenario.degradations_count = 2;
    f.degradations[0] = (rt_sim_degradation){
        .name = "shed", .state = RT_SIM_SHED, .condition = RT_SIM_QUEUE_DEPTH, .threshold = 2};
    f.degradations[1] = (rt_sim_degradation){.name = "effort",
                                             .state = RT_SIM_LOWER_EFFORT,
                                             .condition = RT_SIM_QUEUE_DEPTH,
                                             .threshold = 1,
                                             .steps_factor_permille = 500,
                                             .output_factor_permille = 500};
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(1, sim->totals.shed);
    CHECK_UINT(1, sim->totals.shed_degradation);
    CHECK_UINT(3, sim->totals.arrived - sim->totals.shed);
    /* task 0: at its start nobody waits; at 3 s two do: of 2 steps left 1; 4 s in all. Task 1: 2 steps, the second
     * while task 2 waits as well. Task 2: nobody waits. 3 + 1, 1 + 2 + 1, 7 s. */
    CHECK_UINT(15 * SECOND, sim->now_ns);
    CHECK_UINT(10 + 5 + 5 + 5 + 30, sim->gates[0].counts.tokens_output);
    CHECK_UINT(2, sim->degraded[1].tasks);
    rt_sim_destroy(sim);
}

static void retries_are_dropped(void) {
    fixture_init(&f);
    f.providers[0].error = CERTAIN;
    f.scenario.tasks = 10;
    f.scenario.retries_count = 1;
    f.retries[0] = (rt_sim_retry){.name = "client", .operations = 3, .attempts = 100, .on = RT_SIM_ON_ERROR};
    f.scenario.retry_budget_permille = 1;
    f.scenario.retry_budget_reserve = 4;
    rt_sim *const budget = run_scenario(&f);
    check_sums(budget);
    CHECK_UINT(5, budget->totals.retries); /* 4 and a thousandth of each operation */
    CHECK_UINT(10, budget->totals.dropped_budget);
    rt_sim_destroy(budget);
    f.scenario.retry_budget_permille = 0;
    f.scenario.degradations_count = 1;
    f.degradations[0] = (rt_sim_degradation){
        .name = "drop", .state = RT_SIM_DROP_RETRY, .condition = RT_SIM_CONTEXT_ABOVE, .threshold = 1};
    rt_sim *const dropped = run_scenario(&f);
    CHECK_UINT(0, dropped->totals.retries);
    CHECK_UINT(10, dropped->totals.dropped_degradation);
    rt_sim_destroy(dropped);
}

/* Two steps with the prompts, latencies and calls that were recorded: 1 s + 4 s + base 1 s. */
static void recorded_tasks_are_played_as_they_were(void) {
    static const rt_sim_recorded_task task = {0, 2, 0, 0, 0, 50, CERTAIN};
    static const rt_sim_recorded_step steps[] = {{200, 20, SECOND, 0, 2}, {300, 30, 0, 0, 0}};
    static const rt_sim_recorded_call calls[] = {{0, 3 * SECOND}, {0, SECOND}};
    fixture_init(&f);
    f.scenario.classes_count = 0;
    f.scenario.recorded = &task;
    f.scenario.recorded_count = 1;
    f.scenario.recorded_steps = steps;
    f.scenario.recorded_steps_count = 2;
    f.scenario.recorded_calls = calls;
    f.scenario.recorded_calls_count = 2;
    f.providers[0].cache_tokens = 1000;
    f.prefix_tokens[0] = 50;
    f.scenario.warm = 1;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(6 * SECOND, sim->now_ns);
    CHECK_UINT(500, sim->gates[0].counts.tokens_input);
    CHECK_UINT(50 + 200,
               sim->gates[0].counts.tokens_cached); /* the warm prefix; then all of the first prompt */
    CHECK_UINT(2, sim->gates[1].counts.calls);
    rt_sim_destroy(sim);
}

/* Three users of one worker-free system, 7 s a task and 1 s of thought: by 24 s each has done 3. */
static void a_closed_loop_keeps_its_users(void) {
    fixture_init(&f);
    f.scenario.arrival = RT_SIM_CLOSED;
    f.scenario.in_flight = 3;
    f.values[VALUE_THINK] = SECOND;
    f.scenario.tasks = 1000;
    f.scenario.horizon_ns = 24 * SECOND;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(9, sim->totals.finished);
    CHECK_UINT(3, sim->in_flight.value_max);
    CHECK(sim->in_flight.sum == 63 * SECOND);
    CHECK_TEXT("completed", rt_sim_outcome(sim));
    rt_sim_destroy(sim);
}

/* Tasks that take no time and are followed at once: all the same, each user comes. */
static void users_without_thought_are_users(void) {
    fixture_init(&f);
    f.scenario.arrival = RT_SIM_CLOSED;
    f.scenario.in_flight = 5;
    f.scenario.tasks = 200;
    f.values[VALUE_STEPS] = 1;
    f.models[0].base_ns = 0;
    f.scenario.events_count = 0;
    rt_sim *const at_once = run_scenario(&f);
    check_sums(at_once);
    CHECK_UINT(200, at_once->totals.finished);
    CHECK_UINT(5, at_once->users);
    rt_sim_destroy(at_once);
}

static void timeline_thins_out(void) {
    fixture_init(&f);
    f.scenario.tasks = 100;
    f.scenario.timeline_ns = SECOND;
    f.scenario.timeline_rows = 8;
    f.providers[0].tokens_per_min = 100000;
    rt_sim *const sim = run_scenario(&f);
    CHECK(sim->timeline_count <= 8 && sim->timeline_count >= 4);
    CHECK_UINT(16 * SECOND, sim->timeline_ns); /* 106 s in at most 8 rows */
    for (uint32_t i = 0; i < sim->timeline_count; i++) {
        CHECK_UINT(i * 16 * SECOND, (uint64_t)sim->timeline[i * sim->timeline_columns]);
    }
    rt_sim_destroy(sim);
}

static void refuse(const char *expected) {
    char message[RT_SIM_MESSAGE_BYTES] = "";
    rt_sim *sim = NULL;
    CHECK_UINT(RT_INVALID, rt_sim_create(&f.scenario, &sim, message, sizeof message));
    CHECK(sim == NULL);
    CHECK_TEXT(expected, message);
    fixture_init(&f);
}

static void what_would_break_is_refused(void) {
    fixture_init(&f);
    f.scenario.tasks = 0;
    refuse("tasks: choose 1 to 2^31");
    f.scenario.deadline_ns = 0;
    refuse("deadline_ns: choose 1 to 2^53");
    f.scenario.gap_ns = 0;
    refuse("gap_ns: choose 1 or more");
    f.classes[0].model = 1;
    refuse("classes[0].model: there is none");
    f.classes[0].share = 0;
    refuse("classes: the shares must sum to 1 .. 2^32 - 1");
    f.tools[0].latency_ns.count = 0;
    refuse("tools: latency_ns: too few values");
    f.values[10] = 5;
    f.values[11] = 4;
    f.classes[0].user_tokens = (rt_sim_distribution){RT_SIM_QUANTILES, 10, 2};
    refuse("classes: user_tokens: value 1 is below the one before");
    f.classes[0].user_tokens.first = 64;
    refuse("classes: user_tokens: its values are beyond values_count");
    f.providers[0].error = CERTAIN + 1;
    refuse("providers[0].error: choose at most 2^32");
    f.scenario.retries_count = 3;
    for (unsigned i = 0; i < 3; i++) {
        f.retries[i] = (rt_sim_retry){.name = "layer", .attempts = 100};
    }
    refuse("retries: the layers make 1000000 attempts of one operation; choose 10,000 at most");
    f.scenario.events_count = 1;
    f.events[0] = (rt_sim_event){RT_SIM_OUTAGE_TOOL, 1, 0, 0};
    refuse("events[0].dependency: there is none");
}

static void a_simulation_runs_once_and_may_be_interrupted(void) {
    char message[RT_SIM_MESSAGE_BYTES];
    rt_sim *sim;
    fixture_init(&f);
    f.scenario.tasks = 100000;
    CHECK_UINT(RT_OK, rt_sim_create(&f.scenario, &sim, message, sizeof message));
    CHECK(rt_sim_record(sim) == NULL);
    rt_sim_interrupt(sim);
    CHECK_UINT(RT_OK, rt_sim_execute(sim, message, sizeof message));
    CHECK_TEXT("killed", rt_sim_outcome(sim));
    CHECK(sim->totals.unfinished > 0);
    check_sums(sim);
    CHECK_UINT(RT_BUSY, rt_sim_execute(sim, message, sizeof message));
    CHECK_TEXT("a simulation runs once; create another one", message);
    rt_sim_destroy(sim);
    rt_sim_destroy(NULL);
    CHECK_UINT(64, strlen(rt_sim_digest()));
}

static void *interrupt(void *sim) {
    rt_sim_interrupt(sim);
    return NULL;
}

/* It would not end by itself before the test's time is up. */
static void another_thread_may_interrupt(void) {
    char message[RT_SIM_MESSAGE_BYTES];
    rt_sim *sim;
    pthread_t thread;
    fixture_init(&f);
    f.scenario.arrival = RT_SIM_CLOSED;
    f.scenario.in_flight = 100;
    f.scenario.tasks = UINT64_C(1) << 31;
    f.scenario.deadline_ns = UINT64_C(1) << 53;
    CHECK_UINT(RT_OK, rt_sim_create(&f.scenario, &sim, message, sizeof message));
    CHECK_UINT(0, pthread_create(&thread, NULL, interrupt, sim));
    CHECK_UINT(RT_OK, rt_sim_execute(sim, message, sizeof message));
    CHECK_UINT(0, pthread_join(thread, NULL));
    CHECK_TEXT("killed", rt_sim_outcome(sim));
    check_sums(sim);
    rt_sim_destroy(sim);
}

int main(void) {
    context_above_falls_back_and_truncates();
    a_deep_queue_sheds_and_lowers_the_effort();
    retries_are_dropped();
    recorded_tasks_are_played_as_they_were();
    a_closed_loop_keeps_its_users();
    users_without_thought_are_users();
    timeline_thins_out();
    what_would_break_is_refused();
    a_simulation_runs_once_and_may_be_interrupted();
    another_thread_may_interrupt();
    return check_done();
}
