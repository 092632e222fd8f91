#include "direct.h"
#include "pace.h"

static void submit(void *context, uint64_t first_id, size_t count, const uint64_t *intended_ns) {
    direct_submit(context, first_id, count, intended_ns);
}

int open_tallymark(const bench_options *options, measure_outcome *outcome) {
    static direct self;
    direct_start(&self, options, options->tasks); /* nothing is rejected, whatever the machine does */
    const measure_usage before = measure_usage_read();
    pace(options, submit, &self);
    rt_scheduler_wait_idle(self.scheduler, RT_SCHEDULER_FOREVER);
    measure_usage_since(&before, outcome);
    direct_finish(&self, outcome);
    direct_end(&self);
    return 0;
}
