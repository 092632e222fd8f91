#include "taskflow.hpp"
#include "peer.hpp"

extern "C" int bench_taskflow(const bench_options *options, measure_outcome *outcome) {
    return peer::closed_loop<Taskflow>(options, outcome);
}

extern "C" int bench_taskflow_backlog(const bench_options *options, measure_outcome *outcome) {
    return peer::backlog<Taskflow>(options, outcome);
}
