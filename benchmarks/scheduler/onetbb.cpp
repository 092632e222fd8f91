// The peer: oneTBB's task_arena with the same number of worker threads, enqueueing one task at a time.
//
// It keeps less than the runtime does: one timestamp at the start and one histogram, no timeline, no history,
// no bounded admission, no verification array. So the comparison is in its favour.
#include "bench.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace {

constexpr uint64_t warm_up_tasks = 20000; // oneTBB starts its threads with the first tasks

class Arena {
  public:
    Arena(const bench_options &options, bench_body *body)
        : limit_(tbb::global_control::max_allowed_parallelism, options.workers + 1),
          arena_(static_cast<int>(options.workers), 0), body_(body) {
        arena_.initialize();
    }

    ~Arena() { arena_.terminate(); }

    void enqueue(uint64_t id, uint64_t submitted_ns) {
        arena_.enqueue([this, id, submitted_ns] {
            while (closed_.load(std::memory_order_relaxed)) {
                pause();
            }
            const auto thread = static_cast<uint32_t>(tbb::this_task_arena::current_thread_index());
            bench_body_run(body_, id, thread, submitted_ns);
        });
    }

    void close() { closed_.store(true); }
    void open() { closed_.store(false); }

    // A pause of 50 us is short beside the half window that the workers still have.
    static void pause() {
        const timespec time{0, 50000};
        nanosleep(&time, nullptr);
    }

    void wait_until_done(uint64_t tasks) const {
        while (bench_body_done(body_) < tasks) {
            pause();
        }
    }

    // The closed loop of the runtime: at most `window` in flight, refilled when half of them are done.
    void run_closed(uint64_t first, uint64_t count, uint64_t window) {
        const uint64_t done_before = bench_body_done(body_);
        uint64_t room = window;
        for (uint64_t i = 0; i < count; i++, room--) {
            if (room == 0) {
                uint64_t done;
                while (i - (done = bench_body_done(body_) - done_before) > window / 2) {
                    pause();
                }
                room = window - (i - done);
            }
            enqueue(first + i, bench_now_ns());
        }
        wait_until_done(done_before + count);
    }

  private:
    tbb::global_control limit_;
    tbb::task_arena arena_;
    bench_body *body_;
    std::atomic<bool> closed_{false};
};

// The warm-up repeats task numbers of the run; its share of the checksum is taken away again.
uint64_t warm_up(Arena &arena, bench_body *body, const bench_options &options) {
    const uint64_t count = options.tasks < warm_up_tasks ? options.tasks : warm_up_tasks;
    bench_outcome outcome{};
    arena.run_closed(0, count, options.window);
    bench_body_report(body, &outcome);
    return outcome.probe_checksum;
}

} // namespace

extern "C" int bench_onetbb(const bench_options *options, bench_outcome *outcome) {
    prctl(PR_SET_TIMERSLACK, 1000UL);
    bench_body *const body = bench_body_create(options, options->workers);
    {
        Arena arena(*options, body);
        const uint64_t warm_checksum = warm_up(arena, body, *options);
        const uint64_t warm_done = bench_body_done(body);
        const bench_usage before = bench_usage_read();
        arena.run_closed(0, options->tasks, options->window);
        bench_usage_since(&before, outcome);
        bench_body_report(body, outcome);
        outcome->probe_checksum -= warm_checksum;
        outcome->tasks_done -= warm_done;
    }
    bench_body_destroy(body);
    return 0;
}

extern "C" int bench_onetbb_backlog(const bench_options *options, bench_outcome *outcome) {
    bench_body *const body = bench_body_create(options, options->workers);
    {
        Arena arena(*options, body);
        const uint64_t warm_checksum = warm_up(arena, body, *options);
        const uint64_t warm_done = bench_body_done(body);
        const bench_usage before = bench_usage_read();
        const uint64_t start_bytes = bench_rss_anon_bytes();
        arena.close();
        auto *const seen = static_cast<unsigned char *>(malloc(options->tasks));
        memset(seen, 0xff, options->tasks);
        for (uint64_t id = 0; id < options->tasks; id++) {
            arena.enqueue(id, bench_now_ns());
        }
        outcome->backlog_bytes = bench_rss_anon_bytes() - start_bytes;
        arena.open();
        arena.wait_until_done(warm_done + options->tasks);
        outcome->drained_bytes = bench_rss_anon_bytes() - start_bytes;
        bench_usage_since(&before, outcome);
        bench_body_report(body, outcome);
        outcome->probe_checksum -= warm_checksum;
        outcome->tasks_done -= warm_done;
        free(seen);
    }
    outcome->queue_p50_ns = 0;
    outcome->queue_p99_ns = 0;
    bench_body_destroy(body);
    return 0;
}
