#include "onetbb.hpp"
#include "open.hpp"

extern "C" int open_onetbb(const bench_options *options, measure_outcome *outcome) {
    return open_loop<OneTbb>(options, outcome);
}
