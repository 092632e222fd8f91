/* Runs one executor once in an open loop and prints what it used as one line of JSON. */
#include "pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bench_executor run;
} executors[] = {
    {"tallymark", open_tallymark},
    {"onetbb", open_onetbb},
    {"taskflow", open_taskflow},
    {"core-distance", bench_core_distance},
};

int main(int count, char **values) {
    bench_executor run = NULL;
    for (size_t i = 0; i < sizeof executors / sizeof executors[0] && count == 5; i++) {
        run = strcmp(executors[i].name, values[1]) == 0 ? executors[i].run : run;
    }
    if (run == NULL) {
        fprintf(stderr, "usage: open_loop-bench tallymark|onetbb|taskflow TASKS WORKERS RATE; an executor of "
                        "another library is there when it was at hand\n");
        return 2;
    }
    const bench_options options = {.tasks = strtoull(values[2], NULL, 10),
                                   .agents = 1000,
                                   .workers = (uint32_t)strtoul(values[3], NULL, 10),
                                   .probes = 64,
                                   .window = 1024, /* of the warm-up */
                                   .rate_per_s = strtoull(values[4], NULL, 10),
                                   .output_bytes = 64,
                                   .context_bytes = 8u << 20,
                                   .kind = BENCH_PROBES};
    measure_outcome outcome = {.tasks = 0};
    if (options.tasks == 0 || options.workers == 0 || options.rate_per_s == 0 || run(&options, &outcome) != 0) {
        return 1;
    }
    measure_print(&outcome);
    return 0;
}
