/* Small scenarios whose result is calculated by hand. */
#include "sim_fixture.h"

static fixture f;

/* Three model calls of 1 s with two tool calls of 2 s between them: 7 s. Prompts 100, 115, 130; output 3 x 10.
 * Money: 345 x 10^6 + 30 x 5 x 10^6 pUSD. */
static void one_task(void) {
    fixture_init(&f);
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(7 * SECOND, sim->now_ns);
    CHECK_UINT(345, sim->gates[0].counts.tokens_input);
    CHECK_UINT(30, sim->gates[0].counts.tokens_output);
    CHECK_UINT(495000000, (uint64_t)sim->totals.cost_pusd);
    CHECK_UINT(3, sim->gates[0].counts.calls);
    CHECK_UINT(2, sim->gates[1].counts.calls);
    CHECK_UINT(6, sim->events); /* an arrival and five ends of calls */
    CHECK_UINT(1, sim->totals.succeeded);
    CHECK_TEXT("completed", rt_sim_outcome(sim));
    rt_sim_destroy(sim);
}

/* 1 s base, 0.5 s for 512 tokens of input, 0.25 s for 256 of output; times 1 + 0.5 x 1 / 1. */
static void latency_has_its_parts_and_its_load_factor(void) {
    fixture_init(&f);
    f.values[VALUE_STEPS] = 1;
    f.values[VALUE_SYSTEM] = 512 - 60;
    f.values[VALUE_OUTPUT] = 256;
    f.models[0].input_ns_per_1024_tokens = f.models[0].output_ns_per_1024_tokens = SECOND;
    f.models[0].load_slope_permille = 500;
    f.models[0].load_reference = 1;
    rt_sim *const sim = run_scenario(&f);
    CHECK_UINT(1750000000 * UINT64_C(3) / 2, sim->now_ns);
    rt_sim_destroy(sim);
}

/* Four tasks at 0, 1, 2, 3 s with one worker and 7 s each: they end at 7, 14, 21, 28; waits 0, 6, 12, 18. */
static void one_worker(void) {
    fixture_init(&f);
    f.scenario.tasks = 4;
    f.scenario.workers = 1;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(28 * SECOND, sim->now_ns);
    CHECK_UINT(3, sim->waiting_max);
    CHECK_UINT(18 * SECOND, sim->waiting_age_max_ns);
    CHECK_UINT(36 * SECOND, (uint64_t)sim->slots_ceiling.waited_ns);
    CHECK_UINT(3, sim->slots_ceiling.hits);
    CHECK_UINT(SECOND, sim->slots_ceiling.first_ns);
    CHECK(sim->busy.sum == 28 * SECOND);
    size_t count;
    const rt_sim_task *const slowest = rt_sim_slowest(sim, &count);
    CHECK_UINT(4, count);
    CHECK_UINT(3, slowest[0].task);
    CHECK_UINT(25 * SECOND, slowest[0].ended_ns - slowest[0].arrived_ns);
    rt_sim_destroy(sim);
}

/* 120 tokens a minute refill 2 a second. A call needs 100 + 10: the first goes at 0 and leaves 10; the next needs
 * 110: 50 s later. With one step a task, task k starts at 50 x k (k > 0: 50 s after the one before, since 1 s
 * apart). */
static void tokens_a_minute(void) {
    fixture_init(&f);
    f.scenario.tasks = 3;
    f.values[VALUE_STEPS] = 1;
    f.providers[0].tokens_per_min = 120;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    /* level at 0 after the take: 10; 110 are there at 50; then 0 are left and 110 are there at 105 */
    CHECK_UINT(106 * SECOND, sim->now_ns);
    CHECK_UINT(2, sim->gates[0].ceilings[RT_SIM_LIMIT_TOKENS].hits);
    CHECK_UINT((49 + 103) * SECOND, (uint64_t)sim->gates[0].ceilings[RT_SIM_LIMIT_TOKENS].waited_ns);
    CHECK_UINT(0, (uint64_t)sim->gates[0].tokens.least);
    CHECK_UINT(2, sim->pops - 6); /* three arrivals, three ends, and one wake for each that waited */
    rt_sim_destroy(sim);
}

/* The same with cached tokens that do not count: the system and tool texts (60 tokens) are shared and cached from
 * the second call on, which then needs 50 only. */
static void cached_tokens_need_not_count(void) {
    fixture_init(&f);
    f.scenario.tasks = 2;
    f.values[VALUE_STEPS] = 1;
    f.providers[0].tokens_per_min = 120;
    f.providers[0].cache_tokens = 1000;
    f.classes[0].prefixes = 1;
    f.classes[0].prefix_share = CERTAIN;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(60, sim->gates[0].counts.tokens_cached);
    CHECK_UINT(21 * SECOND, sim->now_ns); /* 10 + 2 x 20 = 50 tokens at 20 s, and 1 s for the call */
    rt_sim_destroy(sim);
    f.providers[0].count_cached = 1;
    rt_sim *const counted = run_scenario(&f);
    CHECK_UINT(51 * SECOND, counted->now_ns);
    rt_sim_destroy(counted);
}

/* Reserving 50 output tokens and writing 10: 150 are taken, 40 come back when the call ends at 1 s. */
static void a_reservation_comes_back(void) {
    fixture_init(&f);
    f.values[VALUE_STEPS] = 1;
    f.providers[0].tokens_per_min = 600;
    f.providers[0].reserve_max_tokens = 1;
    f.models[0].max_output_tokens = 50;
    rt_sim *const sim = run_scenario(&f);
    rt_sim_bucket *const bucket = &sim->gates[0].tokens;
    CHECK_UINT(450, (uint64_t)(bucket->least / RT_SIM_MINUTE_NS));
    CHECK_UINT(600 - 150 + 10 + 40, (uint64_t)(bucket->level / RT_SIM_MINUTE_NS)); /* 10 a second */
    rt_sim_destroy(sim);
}

/* A transcript is cached behind the shared prefix: prompts 100, 115, 130; cached 0, 100, 115. */
static void a_transcript_is_cached_from_step_to_step(void) {
    fixture_init(&f);
    f.providers[0].cache_tokens = 130;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(215, sim->gates[0].counts.tokens_cached);
    CHECK_UINT(0, sim->gates[0].cache_used); /* it went with its task */
    rt_sim_destroy(sim);
    f.providers[0].cache_tokens = 114; /* the second prompt does not fit any more */
    rt_sim *const small = run_scenario(&f);
    CHECK_UINT(100, small->gates[0].counts.tokens_cached);
    CHECK(small->gates[0].evictions > 0);
    rt_sim_destroy(small);
    f.providers[0].cache_tokens = 1000;
    f.scenario.events_count = 1;
    f.events[0] = (rt_sim_event){RT_SIM_INVALIDATE_CACHES, UINT32_MAX, 2 * SECOND, 0};
    rt_sim *const cleared = run_scenario(&f);
    CHECK_UINT(115, cleared->gates[0].counts.tokens_cached);
    rt_sim_destroy(cleared);
}

/* 45 = 3 x 3 x 5: nobody answers, and each layer multiplies the one inside it. */
static void layers_of_retries_multiply(void) {
    fixture_init(&f);
    f.providers[0].error = CERTAIN;
    f.scenario.retries_count = 3;
    f.retries[0] = (rt_sim_retry){.name = "client", .operations = 3, .attempts = 3, .on = RT_SIM_ON_ERROR};
    f.retries[1] = (rt_sim_retry){.name = "tool", .operations = 3, .attempts = 3, .on = RT_SIM_ON_ERROR};
    f.retries[2] = (rt_sim_retry){.name = "workflow", .operations = 3, .attempts = 5, .on = RT_SIM_ON_ERROR};
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(45, sim->gates[0].counts.calls);
    CHECK_UINT(45, sim->layers[0].attempts);
    CHECK_UINT(15, sim->layers[0].logical);
    CHECK_UINT(15, sim->layers[1].attempts);
    CHECK_UINT(5, sim->layers[1].logical);
    CHECK_UINT(5, sim->layers[2].attempts);
    CHECK_UINT(1, sim->layers[2].logical);
    CHECK_UINT(1, sim->totals.logical);
    CHECK_UINT(1, sim->totals.failed);
    rt_sim_destroy(sim);
}

/* Delays 1, 2, 4, cap 3 s: calls at 0, 2, 5, 9 s (each takes 1 s), which ends at 10 s. */
static void backoff_doubles_up_to_its_cap(void) {
    fixture_init(&f);
    f.providers[0].error = CERTAIN;
    f.scenario.retries_count = 1;
    f.retries[0] = (rt_sim_retry){.name = "client",
                                  .operations = RT_SIM_MODEL_CALLS,
                                  .attempts = 4,
                                  .on = RT_SIM_ON_ERROR,
                                  .backoff = RT_SIM_BACKOFF_EXPONENTIAL,
                                  .delay_ns = SECOND,
                                  .cap_ns = 3 * SECOND};
    rt_sim *const sim = run_scenario(&f);
    CHECK_UINT(10 * SECOND, sim->now_ns);
    rt_sim_destroy(sim);
}

/* Three failures open the breaker for 10 s; the retries meanwhile are not sent. */
static void a_breaker_sends_nothing_while_it_is_open(void) {
    fixture_init(&f);
    f.providers[0].error = CERTAIN;
    f.scenario.breaker_failures = 3;
    f.scenario.breaker_open_ns = 10 * SECOND;
    f.scenario.retries_count = 1;
    f.retries[0] = (rt_sim_retry){.name = "client",
                                  .operations = 3,
                                  .attempts = 6,
                                  .on = RT_SIM_ON_ERROR + RT_SIM_ON_BREAKER,
                                  .backoff = RT_SIM_BACKOFF_FIXED,
                                  .delay_ns = SECOND};
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(3, sim->gates[0].counts.calls);   /* sent at 0, 2, 4; open from 5 to 15 */
    CHECK_UINT(3, sim->gates[0].counts.breaker); /* at 6, 7, 8 */
    CHECK_UINT(8 * SECOND, sim->now_ns);
    CHECK_UINT(1, sim->gates[0].opened);
    rt_sim_destroy(sim);
}

/* 60 requests a minute hold 60: the 61st of 61 at once is answered 429, and again after 2 s is not. */
static void a_provider_may_reject(void) {
    fixture_init(&f);
    f.scenario.tasks = 61;
    f.scenario.arrival = RT_SIM_BURST;
    f.scenario.burst_tasks = 61;
    f.values[VALUE_STEPS] = 1;
    f.providers[0].requests_per_min = 60;
    f.providers[0].overflow = RT_SIM_REJECT;
    f.providers[0].retry_after_ns = 2 * SECOND;
    f.scenario.retries_count = 1;
    f.retries[0] = (rt_sim_retry){.name = "client", .operations = 3, .attempts = 2, .on = RT_SIM_ON_429};
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_UINT(1, sim->gates[0].counts.throttled);
    CHECK_UINT(62, sim->gates[0].counts.calls);
    CHECK_UINT(61, sim->totals.finished);
    CHECK_UINT(3 * SECOND, sim->now_ns);
    rt_sim_destroy(sim);
}

/* Two calls of 110 tokens of KV memory in 200: one after the other. With preemption both start (100 + 100); at the
 * end of its prefill the first finds no room and gives way, the second then fits, and the first starts again after
 * it. */
static void kv_memory_queues_or_preempts(void) {
    fixture_init(&f);
    f.scenario.tasks = 2;
    f.scenario.arrival = RT_SIM_BURST;
    f.scenario.burst_tasks = 2;
    f.values[VALUE_STEPS] = 1;
    f.providers[0].kv_tokens = 200;
    f.models[0].output_ns_per_1024_tokens = 1024 * SECOND; /* 10 s of output */
    rt_sim *const queued = run_scenario(&f);
    check_sums(queued);
    CHECK_UINT(22 * SECOND, queued->now_ns);
    CHECK_UINT(110, queued->gates[0].kv_peak);
    rt_sim_destroy(queued);
    f.providers[0].kv_policy = RT_SIM_PREEMPT;
    rt_sim *const preempted = run_scenario(&f);
    check_sums(preempted);
    CHECK_UINT(1, preempted->gates[0].counts.preempted);
    CHECK_UINT(2, preempted->gates[0].counts.calls);
    CHECK_UINT(22 * SECOND, preempted->now_ns); /* 1 + 10 for the second, then 1 + 10 */
    CHECK_UINT(200, preempted->gates[0].kv_peak);
    rt_sim_destroy(preempted);
}

static void an_outage_ends_and_a_call_larger_than_its_quota_is_refused(void) {
    fixture_init(&f);
    f.values[VALUE_STEPS] = 1;
    f.scenario.tasks = 4; /* at 0, 1, 2, 3 s */
    f.scenario.events_count = 1;
    f.events[0] = (rt_sim_event){RT_SIM_OUTAGE_PROVIDER, 0, SECOND, 2 * SECOND};
    rt_sim *const sim = run_scenario(&f);
    CHECK_UINT(
        2, sim->gates[0].counts.errors); /* those at 1 and 2: an event comes before an arrival of its time */
    CHECK_UINT(2, sim->totals.finished);
    rt_sim_destroy(sim);
    fixture_init(&f);
    f.providers[0].tokens_per_min = 109;
    rt_sim *const refused = run_scenario(&f);
    check_sums(refused);
    CHECK_UINT(1, refused->totals.failed_refused);
    CHECK_UINT(0, refused->gates[0].counts.calls);
    rt_sim_destroy(refused);
}

static void the_deadline_ends_what_never_would(void) {
    fixture_init(&f);
    f.scenario.tasks = 1000;
    f.scenario.workers = 1;
    f.scenario.deadline_ns = 100 * SECOND;
    rt_sim *const sim = run_scenario(&f);
    check_sums(sim);
    CHECK_TEXT("overloaded", rt_sim_outcome(sim));
    CHECK_UINT(100 * SECOND, sim->now_ns);
    CHECK_UINT(101, sim->totals.arrived);
    CHECK_UINT(14, sim->totals.finished);
    CHECK_UINT(100 * SECOND - 15 * SECOND, sim->waiting_age_max_ns); /* 14 have ended and the 15th runs */
    rt_sim_destroy(sim);
}

int main(void) {
    one_task();
    latency_has_its_parts_and_its_load_factor();
    one_worker();
    tokens_a_minute();
    cached_tokens_need_not_count();
    a_reservation_comes_back();
    a_transcript_is_cached_from_step_to_step();
    layers_of_retries_multiply();
    backoff_doubles_up_to_its_cap();
    a_breaker_sends_nothing_while_it_is_open();
    a_provider_may_reject();
    kv_memory_queues_or_preempts();
    an_outage_ends_and_a_call_larger_than_its_quota_is_refused();
    the_deadline_ends_what_never_would();
    return check_done();
}
