// oneTBB's task_arena with the same number of worker threads, enqueueing one task at a time.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

class OneTbb {
  public:
    explicit OneTbb(unsigned workers)
        : limit_(tbb::global_control::max_allowed_parallelism, workers + 1),
          arena_(static_cast<int>(workers), 0) {
        arena_.initialize();
    }
    template <class Function> void enqueue(Function function) { arena_.enqueue(function); }
    unsigned index() const { return static_cast<unsigned>(tbb::this_task_arena::current_thread_index()); }
    void stop() { arena_.terminate(); }

  private:
    tbb::global_control limit_;
    tbb::task_arena arena_;
};
