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

/// Threads that stay: they wait for work spinning briefly, because the next operator follows at once in a solver, then
/// asleep.
class ThreadPool {
public:
  /// num_threads counts the calling thread; 1 starts none.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(i) once for every i in [0, count), in any order on any thread, and returns when all are done. The first
  /// exception is thrown again here; indices not yet begun are then left out. Calls from several threads take turns; a
  /// call from inside a body runs on the thread that makes it.
  void run(std::int64_t count, const std::function<void(std::int64_t)>& body);

private:
  void work();
  void take_indices();
  void wait_for_workers();

  std::vector<std::thread> workers_;
  std::mutex run_mutex_, failure_mutex_;
  const std::function<void(std::int64_t)>* body_ = nullptr;
  std::int64_t count_ = 0;
  std::exception_ptr failure_;
  alignas(64) std::atomic<std::int64_t> next_ = 0;
  alignas(64) std::atomic<std::uint32_t> generation_ = 0;
  alignas(64) std::atomic<std::int32_t> num_busy_ = 0;
  std::atomic<bool> is_ending_ = false;
};

} // namespace rafter::device
