// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rafter::base {

namespace {

thread_local int thread_limit = 0; ///< limit of ThreadLimit; 0: there is no limit

/// Hands the tasks of one loop to threads, one after the other.
class Tasks {
public:
  Tasks(std::int64_t count, const std::function<void(std::int64_t)>& task)
      : count_(count), task_(task), failed_(count) {}

  void work() {
    for (std::int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
      if (i > failed_.load(std::memory_order_relaxed)) return; // tasks are taken in ascending order
      try {
        task_(i);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (i < failed_.load(std::memory_order_relaxed)) {
          failed_.store(i, std::memory_order_relaxed);
          failure_ = std::current_exception();
        }
      }
    }
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

private:
  std::int64_t count_;
  const std::function<void(std::int64_t)>& task_;
  std::atomic<std::int64_t> next_ = 0, failed_; ///< failed_: the lowest task that has thrown, `count_` if none has
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Threads that stay and help with the loops of all callers. A loop waits for those alone that have begun one of its
/// tasks: on a busy machine a thread may need longer to wake up than the loop takes.
class Helpers {
public:
  /// The helpers of this process. They are never destroyed: threads may still wait in them when the process ends.
  static Helpers& shared() {
    static auto& helpers = *new Helpers;
    return helpers;
  }

  /// Runs the tasks on the calling thread and on at most so many others.
  void run(Tasks& tasks, int num_helpers) {
    Loop loop{.tasks = tasks, .num_wanted = num_helpers, .num_working = 0, .is_left = {}};
    {
      const std::scoped_lock lock(mutex_);
      start_threads(num_helpers);
      loops_.push_back(&loop);
    }
    wake_.notify_all();
    {
      const ThreadLimit alone(1);
      tasks.work();
    }
    std::unique_lock lock(mutex_);
    std::erase(loops_, &loop);
    loop.is_left.wait(lock, [&] { return loop.num_working == 0; });
  }

private:
  struct Loop {
    Tasks& tasks;
    int num_wanted;  ///< helpers that may still join
    int num_working; ///< helpers that have joined and not left
    std::condition_variable is_left;
  };

  void start_threads(int least) {
    try {
      for (; num_threads_ < least; ++num_threads_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) { // the system gives no more: those there are do the work
    }
  }
  void help() {
    const ThreadLimit alone(1);
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !loops_.empty(); });
      auto& loop = *loops_.front();
      if (--loop.num_wanted == 0) loops_.erase(loops_.begin());
      ++loop.num_working;
      lock.unlock();
      loop.tasks.work();
      lock.lock();
      if (--loop.num_working == 0) loop.is_left.notify_one(); // needs the lock, because the loop ends with its caller
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Loop*> loops_; ///< loops that helpers may join, in the order in which they began
  int num_threads_ = 0;
};

} // namespace

int num_available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int num_loop_threads() { return thread_limit == 0 ? num_available_cores() : thread_limit; }

ThreadLimit::ThreadLimit(int num_threads) : before_(std::exchange(thread_limit, std::max(0, num_threads))) {}
ThreadLimit::~ThreadLimit() { thread_limit = before_; }

void run_parallel(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  const std::int64_t num_threads = count < 2 ? 1 : std::min<std::int64_t>(num_loop_threads(), count);
  if (num_threads == 1) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  Tasks tasks(count, task);
  Helpers::shared().run(tasks, static_cast<int>(num_threads) - 1);
  tasks.rethrow_failure();
}

Parts::Parts(std::int64_t count, std::int64_t length, std::int64_t most)
    : count_(count), length_(std::max(length, count / most + (count % most > 0 ? 1 : 0))),
      num_parts_((count + length_ - 1) / length_) {}

} // namespace rafter::base
