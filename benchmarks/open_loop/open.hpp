// A C++ peer in an open loop.
#pragma once

#include "pace.h"
#include "peer.hpp"

template <class Library> int open_loop(const bench_options *options, measure_outcome *outcome) {
    peer::Runner<Library> runner(*options);
    runner.warm_up(*options);
    const measure_usage before = measure_usage_read();
    pace(
        options,
        [](void *context, uint64_t first_id, size_t count, const uint64_t *intended_ns) {
            for (size_t i = 0; i < count; i++) {
                static_cast<peer::Runner<Library> *>(context)->enqueue(first_id + i, intended_ns[i]);
            }
        },
        &runner);
    runner.wait_until_done(runner.warm() + options->tasks);
    measure_usage_since(&before, outcome);
    runner.report(outcome);
    return 0;
}
