/* The owners must add up to what the process has grown by: that is what the account is for.
 *
 * "Within 5 %, or 256 KiB": below 5 MiB of growth one page a thread and malloc's own first heap weigh more than 5 %,
 * and kernels before 6.17 count RssAnon for each core apart and may be late by 64 pages with two cores. */
#include "rt_memory.h"
#include "rt_memory_account.h"
#include "rt_sampler.h"
#include "rt_task_pool.h"
#include "rt_workload.h"

#include "check.h"

#include <stdlib.h>

#define TOLERATED_BYTES (256u << 10)
#define BACKLOG (CHECK_MEMORY_IS_OUR_OWN ? 1000000u : 50000u) /* a sanitizer makes a million slow */

static uint64_t rss_anon_bytes(void) {
    rt_memory_usage usage;
    CHECK_UINT(RT_OK, rt_memory_read("", &usage));
    return usage.rss_anon_bytes;
}

static void check_explained(const char *what, uint64_t before_bytes, uint64_t after_bytes,
                            const rt_memory_account *account) {
    const int64_t growth = (int64_t)after_bytes - (int64_t)before_bytes;
    const int64_t unexplained = growth - (int64_t)rt_memory_account_resident(account);
    const int64_t tolerated = growth / 20 > (int64_t)TOLERATED_BYTES ? growth / 20 : (int64_t)TOLERATED_BYTES;
    fprintf(stderr, "%s: grew by %" PRId64 " KiB, unexplained %" PRId64 " KiB (%.2f %%)\n", what, growth / 1024,
            unexplained / 1024, 100.0 * (double)unexplained / (double)growth);
    if (CHECK_MEMORY_IS_OUR_OWN) {
        CHECK(llabs(unexplained) <= tolerated);
    }
}

static void the_default_run_is_explained_within_five_percent(void) {
    const uint64_t before = rss_anon_bytes();
    rt_workload_options options;
    rt_workload *workload;
    rt_memory_account account = {.stack_reserved_bytes = 0};
    rt_workload_options_init(&options);
    CHECK_UINT(RT_OK, rt_workload_create(&options, &workload, NULL));
    CHECK_UINT(RT_OK, rt_workload_execute(workload, NULL));
    const uint64_t after = rss_anon_bytes();
    rt_workload_account(workload, &account);
    check_explained("default run", before, after, &account);
    CHECK(account.owners[RT_OWNER_CONTEXT].resident_bytes >= options.context_bytes);
    rt_workload_destroy(workload);
}

static rt_status run_nothing(void *context, rt_task_run *run) {
    (void)context;
    (void)run;
    return RT_OK;
}

static void submit_all(rt_scheduler *scheduler, rt_task_pool *pool) {
    for (uint64_t id = 0; id < BACKLOG; id++) {
        rt_task *task;
        CHECK_UINT(1, rt_task_pool_take(pool, &task, 1));
        *task = (rt_task){.id = id};
        CHECK_UINT(RT_OK, rt_scheduler_submit(scheduler, task));
    }
}

/* A queued task owns no stack: a million of them wait, and the stacks are those of the workers alone. */
static void a_held_backlog_of_a_million_is_explained_and_owns_no_stack(void) {
    const uint64_t before = rss_anon_bytes();
    rt_allocator allocator;
    rt_task_pool *pool;
    rt_scheduler *scheduler;
    rt_scheduler_bytes bytes;
    rt_memory_account account = {.stack_reserved_bytes = 0};
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_task_pool_create(&allocator, BACKLOG, &pool));
    const rt_scheduler_options options = {.allocator = &allocator,
                                          .hooks = {.run = run_nothing},
                                          .workers = 8,
                                          .max_active = 8,
                                          .queue_limit = BACKLOG};
    CHECK_UINT(RT_OK, rt_scheduler_create(&options, &scheduler, NULL));
    rt_scheduler_hold(scheduler);
    submit_all(scheduler, pool);
    const uint64_t after = rss_anon_bytes();
    rt_memory_account_add(&account, &allocator);
    rt_scheduler_account(scheduler, &bytes);
    rt_memory_account_add_stacks(&account, RT_OWNER_STACKS, bytes.stack_reserved_bytes,
                                 bytes.stack_committed_bytes);
    check_explained("held backlog of a million", before, after, &account);
    CHECK(account.owners[RT_OWNER_TASKS].resident_bytes >= (uint64_t)BACKLOG * sizeof(rt_task));
    if (CHECK_MEMORY_IS_OUR_OWN) {
        CHECK(account.owners[RT_OWNER_STACKS].resident_bytes < 8u * 64u * 1024u);
        CHECK(after - before <= UINT64_C(128) * BACKLOG);
    }
    rt_scheduler_release(scheduler);
    rt_scheduler_wait_idle(scheduler, RT_SCHEDULER_FOREVER);
    rt_scheduler_destroy(scheduler);
    rt_task_pool_destroy(pool);
    CHECK_UINT(0, allocator.live_objects);
}

static void no_source(void *context, rt_sample *sample) {
    (void)context;
    sample->queue = 0;
}

static void the_samplers_thread_takes_a_small_stack_and_accounts_for_it(void) {
    rt_allocator allocator;
    rt_sampler *sampler;
    rt_memory_account account = {.stack_reserved_bytes = 0};
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_sampler_create(&allocator, 1000000, 100, no_source, NULL, &sampler, NULL));
    CHECK_UINT(RT_OK, rt_sampler_start(sampler, NULL));
    rt_sampler_stop(sampler);
    rt_sampler_account(sampler, &account);
    CHECK(account.stack_reserved_bytes >= 16u << 10);
    if (CHECK_MEMORY_IS_OUR_OWN) {
        CHECK(account.stack_reserved_bytes <= RT_SAMPLER_STACK_BYTES);
    }
    CHECK(account.owners[RT_OWNER_SAMPLER].resident_bytes > 0);
    CHECK(account.owners[RT_OWNER_SAMPLER].resident_bytes <= account.stack_reserved_bytes);
    CHECK(rt_sampler_cpu_ns(sampler) > 0);
    rt_sampler_destroy(sampler);
}

int main(void) {
    the_samplers_thread_takes_a_small_stack_and_accounts_for_it(); /* before a larger stack can be reused */
    the_default_run_is_explained_within_five_percent();
    a_held_backlog_of_a_million_is_explained_and_owns_no_stack();
    return check_done();
}
