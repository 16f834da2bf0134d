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

/// Threads that stay. Between runs they wait spinning for up to about a hundred microseconds, because the next operator
/// follows at once in a solver, then asleep; where there are more threads than cores they sleep at once. A run never
/// waits for a thread that has not begun to work, so that one that the system does not schedule delays nobody, and a
/// forked child, which has none of the threads, still completes its runs.
class ThreadPool {
public:
  /// num_threads counts the calling thread; 1 starts none. Throws EnvironmentError when the system gives no more.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(shares_.size()); }

  /// Calls body(i) once for every i in [0, count), in any order on any thread, and returns when all are done. Each
  /// thread begins with its own contiguous share, the same in every run of equal count (its caches and its memory are
  /// near), then helps others. The first exception is thrown again here; indices not yet begun are then left out. Calls
  /// from several threads take turns; a call from inside a body runs on the thread that makes it.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& body);

private:
  /// Indices of one thread; others take from them when theirs are done.
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
  alignas(64) std::atomic<std::uint32_t> generation_ = 0; ///< counts runs, to wake workers
  alignas(64) std::atomic<std::uint32_t> state_ = 0;      ///< open bit, and how many workers are inside the run
  std::atomic<bool> is_ending_ = false;
};

} // namespace rafter::device
