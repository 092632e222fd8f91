// Taskflow's executor with the same number of worker threads, one silent_async a task.
#pragma once

#include <taskflow/taskflow.hpp>

class Taskflow {
  public:
    explicit Taskflow(unsigned workers) : executor_(workers) {}
    template <class Function> void enqueue(Function function) { executor_.silent_async(function); }
    unsigned index() const { return static_cast<unsigned>(executor_.this_worker_id()); }
    void stop() { executor_.wait_for_all(); }

  private:
    tf::Executor executor_;
};
