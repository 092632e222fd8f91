/* Runs one executor once and prints what it used as one line of JSON. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bench_executor run;
} executors[] = {
    {"plain-one", bench_plain_one},
    {"plain-all", bench_plain_all},
    {"tallymark", bench_tallymark},
    {"tallymark-direct", bench_direct},
    {"tallymark-backlog", bench_backlog},
    {"onetbb", bench_onetbb},
    {"onetbb-backlog", bench_onetbb_backlog},
    {"taskflow", bench_taskflow},
    {"taskflow-backlog", bench_taskflow_backlog},
    {"core-distance", bench_core_distance},
};

static const char *const kinds[] = {"probes", "null", "snprintf", "priorities", "yield"};

static bench_executor executor_of(const char *name) {
    for (size_t i = 0; i < sizeof executors / sizeof executors[0]; i++) {
        if (strcmp(executors[i].name, name) == 0) {
            return executors[i].run;
        }
    }
    return NULL;
}

static int kind_of(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int main(int count, char **values) {
    const bench_executor run = count == 6 ? executor_of(values[1]) : NULL;
    const int kind = run == NULL ? -1 : kind_of(values[2]);
    if (kind < 0) {
        fprintf(stderr, "usage: scheduler-bench EXECUTOR probes|null|snprintf|priorities|yield TASKS WORKERS "
                        "WINDOW; an executor of another library is there when it was at hand\n");
        return 2;
    }
    const bench_options options = {.tasks = strtoull(values[3], NULL, 10),
                                   .agents = 1000,
                                   .workers = (uint32_t)strtoul(values[4], NULL, 10),
                                   .probes = 64,
                                   .window = (uint32_t)strtoul(values[5], NULL, 10),
                                   .output_bytes = 64,
                                   .context_bytes = 8u << 20,
                                   .kind = (bench_kind)kind};
    measure_outcome outcome = {.tasks = 0};
    if (options.tasks == 0 || options.workers == 0 || options.window == 0 || run(&options, &outcome) != 0) {
        return 1;
    }
    measure_print(&outcome);
    return 0;
}
