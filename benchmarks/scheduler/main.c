/* Runs one executor once and prints what it used as one line of JSON. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

uint64_t bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t in_ns(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

bench_usage bench_usage_read(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (bench_usage){.now_ns = bench_now_ns(),
                         .cpu_ns = in_ns(usage.ru_utime) + in_ns(usage.ru_stime),
                         .voluntary = (uint64_t)usage.ru_nvcsw,
                         .involuntary = (uint64_t)usage.ru_nivcsw};
}

void bench_usage_since(const bench_usage *before, bench_outcome *outcome) {
    const bench_usage after = bench_usage_read();
    outcome->elapsed_ns = after.now_ns - before->now_ns;
    outcome->cpu_ns = after.cpu_ns - before->cpu_ns;
    outcome->voluntary_switches = after.voluntary - before->voluntary;
    outcome->involuntary_switches = after.involuntary - before->involuntary;
}

uint64_t bench_rss_anon_bytes(void) {
    FILE *const file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "RssAnon: %" SCNu64, &kib);
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib * 1024u;
}

static const struct {
    const char *name;
    bench_executor run;
} executors[] = {
    {"plain-one", bench_plain_one},
    {"plain-all", bench_plain_all},
    {"tallymark", bench_tallymark},
    {"tallymark-backlog", bench_tallymark_backlog},
    {"onetbb", bench_onetbb},
    {"onetbb-backlog", bench_onetbb_backlog},
    {"core-distance", bench_core_distance},
};

static bench_executor executor_of(const char *name) {
    for (size_t i = 0; i < sizeof executors / sizeof executors[0]; i++) {
        if (strcmp(executors[i].name, name) == 0) {
            return executors[i].run;
        }
    }
    return NULL;
}

static void print(const bench_outcome *outcome) {
    printf("{\"elapsed_ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 ", \"voluntary_switches\": %" PRIu64
           ", \"involuntary_switches\": %" PRIu64 ", \"tasks\": %" PRIu64
           ", \"probe_checksum\": \"%016" PRIx64 "\", \"queue_p50_ns\": %" PRIu64
           ", \"queue_p99_ns\": %" PRIu64 ", \"backlog_bytes\": %" PRIu64 ", \"drained_bytes\": %" PRIu64
           ", \"round_trip_ns\": %" PRIu64 "}\n",
           outcome->elapsed_ns, outcome->cpu_ns, outcome->voluntary_switches, outcome->involuntary_switches,
           outcome->tasks_done, outcome->probe_checksum, outcome->queue_p50_ns, outcome->queue_p99_ns,
           outcome->backlog_bytes, outcome->drained_bytes, outcome->round_trip_ns);
}

int main(int count, char **values) {
    const bench_executor run = count == 6 ? executor_of(values[1]) : NULL;
    if (run == NULL) {
        fprintf(stderr, "usage: scheduler-bench EXECUTOR probes|null TASKS WORKERS WINDOW\n");
        return 2;
    }
    const bench_options options = {.tasks = strtoull(values[3], NULL, 10),
                                   .agents = 1000,
                                   .workers = (uint32_t)strtoul(values[4], NULL, 10),
                                   .probes = 64,
                                   .window = (uint32_t)strtoul(values[5], NULL, 10),
                                   .output_bytes = 64,
                                   .context_bytes = 8u << 20,
                                   .null_runner = strcmp(values[2], "null") == 0};
    bench_outcome outcome = {.elapsed_ns = 0};
    if (options.tasks == 0 || options.workers == 0 || options.window == 0 || run(&options, &outcome) != 0) {
        return 1;
    }
    print(&outcome);
    return 0;
}
