// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/thread_pool.hpp>

#include <utility>

namespace rafter::device {
namespace {

/// Some ten microseconds: longer than the serial part between two operators, shorter than a wake-up would matter.
constexpr int num_spins = 2000;

thread_local bool is_inside_run = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits while the value is the given one.
template <class T> void wait_while(const std::atomic<T>& value, T old) {
  for (int i = 0; i < num_spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

} // namespace

ThreadPool::ThreadPool(int num_threads) {
  for (int i = 1; i < num_threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  is_ending_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::work() {
  is_inside_run = true;
  for (std::uint32_t seen = 0;; ++seen) {
    wait_while(generation_, seen);
    if (is_ending_.load(std::memory_order_relaxed)) return;
    take_indices();
    if (num_busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) num_busy_.notify_one();
  }
}

void ThreadPool::take_indices() {
  try {
    for (;;) {
      const std::int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) return;
      (*body_)(i);
    }
  } catch (...) {
    next_.store(count_, std::memory_order_relaxed);
    const std::scoped_lock lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::wait_for_workers() {
  for (std::int32_t busy = num_busy_.load(std::memory_order_acquire); busy != 0;
       busy = num_busy_.load(std::memory_order_acquire))
    wait_while(num_busy_, busy);
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (workers_.empty() || count <= 1 || is_inside_run) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  const std::scoped_lock lock(run_mutex_);
  body_ = &body;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  num_busy_.store(static_cast<std::int32_t>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  is_inside_run = true;
  take_indices();
  is_inside_run = false;
  wait_for_workers();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

} // namespace rafter::device
