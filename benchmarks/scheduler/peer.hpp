// What both C++ peers are driven by. A peer has enqueue(function) for one task and index() of the thread that
// runs it.
//
// A peer keeps less than the runtime does: one timestamp at the start and one histogram, no timeline, no
// history, no bounded admission. So the comparison is in its favour.
#pragma once

#include "bench.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>

namespace peer {

constexpr uint64_t warm_up_tasks = 20000; // libraries start their threads with the first tasks

// A pause of 50 us is short beside the half window that the workers still have.
inline void pause() {
    const timespec time{0, 50000};
    nanosleep(&time, nullptr);
}

template <class Library> class Runner {
  public:
    explicit Runner(const bench_options &options)
        : body_(bench_body_create(&options, options.workers)), library_(options.workers) {}
    ~Runner() {
        library_.stop();
        bench_body_destroy(body_);
    }
    Runner(const Runner &) = delete;
    Runner &operator=(const Runner &) = delete;

    void enqueue(uint64_t id, uint64_t submitted_ns) {
        library_.enqueue([this, id, submitted_ns] {
            while (closed_.load(std::memory_order_relaxed)) {
                pause();
            }
            bench_body_run(body_, id, library_.index(), submitted_ns);
        });
    }

    void close() { closed_.store(true); }
    void open() { closed_.store(false); }

    void wait_until_done(uint64_t tasks) const {
        while (bench_body_done(body_) < tasks) {
            pause();
        }
    }

    // The closed loop of the runtime: at most `window` in flight, refilled when half of them are done.
    void run_closed(uint64_t count, uint64_t window) {
        const uint64_t done_before = done();
        uint64_t room = window;
        for (uint64_t i = 0; i < count; i++, room--) {
            if (room == 0) {
                uint64_t finished;
                while (i - (finished = done() - done_before) > window / 2) {
                    pause();
                }
                room = window - (i - finished);
            }
            enqueue(i, measure_now_ns());
        }
        wait_until_done(done_before + count);
    }

    // The warm-up repeats task numbers of the run; its share of the report is taken away again.
    void warm_up(const bench_options &options) {
        run_closed(options.tasks < warm_up_tasks ? options.tasks : warm_up_tasks, options.window);
        bench_body_report(body_, &warm_);
        bench_body_forget_times(body_);
    }

    uint64_t done() const { return bench_body_done(body_); }
    uint64_t warm() const { return warm_.tasks; }

    void report(measure_outcome *outcome) const {
        bench_body_report(body_, outcome);
        outcome->checksum -= warm_.checksum;
        outcome->tasks -= warm_.tasks;
    }

  private:
    bench_body *body_;
    Library library_;
    std::atomic<bool> closed_{false};
    measure_outcome warm_{};
};

template <class Library> int closed_loop(const bench_options *options, measure_outcome *outcome) {
    prctl(PR_SET_TIMERSLACK, 1000UL);
    Runner<Library> runner(*options);
    runner.warm_up(*options);
    const measure_usage before = measure_usage_read();
    runner.run_closed(options->tasks, options->window);
    measure_usage_since(&before, outcome);
    runner.report(outcome);
    return 0;
}

template <class Library> int backlog(const bench_options *options, measure_outcome *outcome) {
    Runner<Library> runner(*options);
    runner.warm_up(*options);
    const measure_usage before = measure_usage_read();
    const uint64_t start_bytes = measure_rss_anon_bytes();
    runner.close();
    auto *const seen = static_cast<unsigned char *>(malloc(options->tasks));
    memset(seen, 0xff, options->tasks);
    for (uint64_t id = 0; id < options->tasks; id++) {
        runner.enqueue(id, measure_now_ns());
    }
    outcome->backlog_bytes = measure_rss_anon_bytes() - start_bytes;
    runner.open();
    runner.wait_until_done(runner.warm() + options->tasks);
    outcome->drained_bytes = measure_rss_anon_bytes() - start_bytes;
    measure_usage_since(&before, outcome);
    runner.report(outcome);
    outcome->latency_p50_ns = 0;
    outcome->latency_p99_ns = 0;
    free(seen);
    return 0;
}

} // namespace peer
