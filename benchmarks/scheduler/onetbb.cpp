#include "onetbb.hpp"
#include "peer.hpp"

extern "C" int bench_onetbb(const bench_options *options, measure_outcome *outcome) {
    return peer::closed_loop<OneTbb>(options, outcome);
}

extern "C" int bench_onetbb_backlog(const bench_options *options, measure_outcome *outcome) {
    return peer::backlog<OneTbb>(options, outcome);
}
