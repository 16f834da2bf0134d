// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rafter::device {

/// A pool of threads. Between runs they spin for up to about a hundred microseconds, because in a solver the next
/// operator follows at once, and then sleep; where there are more threads than cores they sleep at once. A run never
/// waits for a thread that has not begun to work, so that a thread that the system does not schedule delays nobody. A
/// forked child, which has none of the threads, still completes its runs.
class ThreadPool {
public:
  /// num_threads includes the calling thread, so 1 starts none. Throws EnvironmentError when the system gives no more
  /// threads.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(shares_.size()); }

  /// Calls body(i) once for every i in [0, count), in any order on any thread, and returns when all calls are done.
  /// Each thread begins with a contiguous share of its own, the same in every run of equal count (so that data stay in
  /// its caches and its memory), and then helps others. If a call throws, the first exception is thrown again here, and
  /// calls that have not begun are left out. Runs that several threads ask for come one after the other; a run within a
  /// body uses the calling thread alone.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& body);

private:
  /// The range of indices that a thread begins with; other threads take from it when theirs is finished.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next = 0;
    std::int64_t end = 0;
  };
  void work(std::size_t rank);
  void stop();
  bool enter();
  void leave();
  void take_indices(std::size_t rank);
  void close_and_wait();
  template <class T> void wait_while(const std::atomic<T>& value, T old) const;

  std::vector<Share> shares_;
  std::vector<std::thread> workers_;
  int num_spins_ = 0;
  std::mutex run_mutex_, failure_mutex_;
  const std::function<void(std::int64_t)>* body_ = nullptr;
  std::exception_ptr failure_;
  alignas(64) std::atomic<std::uint32_t> run_number_ = 0; ///< number of runs so far; workers wait for it to change
  /// A bit that says whether the run is open, and the number of workers inside it.
  alignas(64) std::atomic<std::uint32_t> state_ = 0;
  std::atomic<bool> is_ending_ = false;
};

} // namespace rafter::device
