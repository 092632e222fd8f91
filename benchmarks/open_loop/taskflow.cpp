#include "taskflow.hpp"
#include "open.hpp"

extern "C" int open_taskflow(const bench_options *options, measure_outcome *outcome) {
    return open_loop<Taskflow>(options, outcome);
}
