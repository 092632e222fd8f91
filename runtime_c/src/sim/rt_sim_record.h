/* The record of a simulated run: one line of JSON that depends on nothing but the scenario.
 *
 * Sums that may pass 2^53 (money, areas, histograms' sums) are decimal strings. An instant is `…_ns` from the start
 * of the run and null when it never came. Members, in this order:
 *
 * outcome            "completed", "overloaded", "killed"
 * virtual_ns         length of the run
 * events             pops of the event queue that changed the state of a task
 * tasks              {arrived, admitted, finished, succeeded, failed, shed, unfinished, measured}
 *                    arrived = finished + failed + shed + unfinished; measured: ended and no warm-up
 * failures           {calls_failed, refused, shed_queue_full, shed_degradation}: why tasks failed or were shed
 * in_flight          {max, area_ns, sojourn_ns}: the integral over time of the tasks in flight, and the sum over all
 *                    tasks of their time in the system up to the end of the run; Little's law: they are equal
 * slots              {workers, busy_area_ns, busy_max}
 * queue              {depth_max, age_max_ns}: of the tasks that wait for a slot
 * steps              {done, finished_tasks}: model operations that ended well, in all
 * cost_pusd          decimal string; null when a model that was used has no price
 * histograms         {duration, queue_wait, steps, model_wait, tool_wait}, of measured tasks
 * providers          [{name, calls, ok, errors, timeouts, throttled_429, refused, breaker_rejected, preempted,
 *                      tokens_input, tokens_cached, tokens_output, tokens_wasted, cost_pusd,
 *                      tokens_headroom_min_permille, requests_headroom_min_permille, in_flight, in_flight_max,
 *                      queue_depth_max, queue_age_max_ns, breaker_opened, kv_peak, cache_evictions,
 *                      latency{histogram}}]
 *                    calls = ok + errors + timeouts + throttled_429 + those on their way at the end; a
 *                    preempted call is one call
 * models             [{name, calls, ok, tokens_input, tokens_cached, tokens_output, cost_pusd}]
 * tools              [{name, calls, ok, errors, timeouts, throttled_429, breaker_rejected, write,
 *                      headroom_min_permille, in_flight, in_flight_max, queue_depth_max, queue_age_max_ns,
 *                      breaker_opened, latency{histogram}}]
 * retries            {layers: [{name, logical, attempts, exhausted}], logical, attempts, dropped_budget,
 *                     dropped_degradation, samples: {tasks, attempts, logical, attempts_squared, attempts_logical,
 *                     logical_squared}}: the sums over ended tasks that an interval of attempts / logical needs
 * degradations       [{name, tasks, times, onset_ns}]
 * ceilings           [{name, hits, first_hit_ns, waited_ns}] with the names "slots", "provider:<name>:tokens",
 *                    ":requests", ":concurrency", ":kv", "tool:<name>:rate", ":concurrency"; a hit is a call (or
 *                    task) that was stopped, waited_ns the sum of their waits that this one, as what
 *                    stopped the head of the line, ended last
 * first_ceiling      the name of the ceiling with the earliest first_hit_ns; null when none was hit
 * classes            [{name, arrived, finished, succeeded, failed, shed, duration{histogram}}] (empty when recorded)
 * tenants            [{name, arrived, finished, failed, shed, queue_wait_max_ns, queue_wait_sum_ns}]
 * evaluation         [[task, outcome, succeeded, steps, duration_ns, degradations]] for each of evaluation_ids that
 *                    arrived; outcome as in simulator.h
 * conservation       {tokens_input, tokens_cached, tokens_output, cost_pusd, attempts}: each {by_task,
 *                    by_dependency}, two sums kept apart that must agree
 * timeline           {interval_ns, columns, rows}: t_ns, in_flight, queue, queue_age_ns, slots_free, then for each
 *                    provider tokens, requests (headroom in permille, null without a limit), in_flight, waiting, kv,
 *                    for each tool rate, in_flight, waiting */
#ifndef RT_SIM_RECORD_H
#define RT_SIM_RECORD_H

#endif
