/* The runtime's whole run, as a suite measures it: scheduler, task body, verification of every task. */
#include "bench.h"

#include "rt_workload.h"

#include <stdio.h>

static int failed(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static rt_workload_options options_of(const bench_options *options) {
    rt_workload_options workload;
    rt_workload_options_init(&workload);
    workload.tasks = options->tasks;
    workload.agents = options->agents;
    workload.workers = options->workers;
    workload.probes = options->probes;
    workload.window = options->window;
    workload.output_bytes = options->output_bytes;
    workload.context_bytes = options->context_bytes;
    workload.runner = options->kind == BENCH_NULL ? RT_RUNNER_NULL : RT_RUNNER_PROBES;
    return workload;
}

int bench_tallymark(const bench_options *options, measure_outcome *outcome) {
    const rt_workload_options workload_options = options_of(options);
    rt_workload *workload;
    rt_workload_result result;
    rt_message why = {""};
    if (options->kind != BENCH_PROBES && options->kind != BENCH_NULL) {
        return failed("this executor has the bodies probes and null; tallymark-direct has all");
    }
    if (rt_workload_create(&workload_options, &workload, &why) != RT_OK) {
        return failed(why.text);
    }
    const measure_usage before = measure_usage_read();
    const rt_status status = rt_workload_execute(workload, &why);
    measure_usage_since(&before, outcome);
    if (status != RT_OK || rt_workload_verify(workload, &why) != RT_OK ||
        rt_workload_result_read(workload, &result) != RT_OK) {
        return failed(why.text);
    }
    outcome->checksum = result.checks.probe_checksum;
    outcome->tasks = result.checks.tasks_seen_once;
    outcome->latency_p50_ns = rt_histogram_percentile_ns(result.histograms[RT_STAGE_QUEUE], 1, 2);
    outcome->latency_p99_ns = rt_histogram_percentile_ns(result.histograms[RT_STAGE_QUEUE], 99, 100);
    rt_workload_destroy(workload);
    return 0;
}
