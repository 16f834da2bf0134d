// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/thread_pool.hpp>

#include <algorithm>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <string>
#include <system_error>
#include <utility>

namespace rafter::device {
namespace {

/// Number of spins: longer than the serial part between two operators, short enough not to matter beside a wake-up.
constexpr int num_spins = 2000;

constexpr std::uint32_t open_bit = std::uint32_t(1) << 31;

thread_local bool is_inside_run = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

ThreadPool::ThreadPool(int num_threads)
    : shares_(static_cast<std::size_t>(std::max(1, num_threads))),
      num_spins_(num_threads <= base::num_available_cores() ? num_spins : 0) {
  try {
    for (std::size_t rank = 1; rank < shares_.size(); ++rank) workers_.emplace_back([this, rank] { work(rank); });
  } catch (const std::system_error& error) {
    stop();
    throw base::EnvironmentError("only " + std::to_string(workers_.size() + 1) + " of " + std::to_string(num_threads) +
                                 " threads could be started: " + error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  is_ending_.store(true, std::memory_order_relaxed);
  run_number_.fetch_add(1, std::memory_order_release);
  run_number_.notify_all();
  for (auto& worker : workers_) worker.join();
}

template <class T> void ThreadPool::wait_while(const std::atomic<T>& value, T old) const {
  for (int i = 0; i < num_spins_; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

void ThreadPool::work(std::size_t rank) {
  is_inside_run = true;
  for (std::uint32_t seen = 0;;) {
    wait_while(run_number_, seen);
    seen = run_number_.load(std::memory_order_acquire);
    if (is_ending_.load(std::memory_order_relaxed)) return;
    if (!enter()) continue; // other threads have done everything already
    take_indices(rank);
    leave();
  }
}

bool ThreadPool::enter() {
  std::uint32_t state = state_.load(std::memory_order_acquire);
  while ((state & open_bit) != 0)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      return true;
  return false;
}

void ThreadPool::leave() {
  if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_one();
}

void ThreadPool::close_and_wait() {
  state_.fetch_and(~open_bit, std::memory_order_acq_rel);
  for (std::uint32_t state; (state = state_.load(std::memory_order_acquire)) != 0;) wait_while(state_, state);
}

void ThreadPool::take_indices(std::size_t rank) {
  try {
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      Share& share = shares_[(rank + k) % shares_.size()];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const std::int64_t i = share.next.fetch_add(1, std::memory_order_relaxed);
        if (i < share.end) (*body_)(i);
      }
    }
  } catch (...) {
    for (auto& share : shares_) share.next.store(share.end, std::memory_order_relaxed);
    const std::scoped_lock lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (workers_.empty() || count <= 1 || is_inside_run) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  const std::scoped_lock lock(run_mutex_);
  body_ = &body;
  const auto parts = static_cast<std::int64_t>(shares_.size());
  for (std::int64_t part = 0; part < parts; ++part) {
    Share& share = shares_[static_cast<std::size_t>(part)];
    share.next.store(count * part / parts, std::memory_order_relaxed);
    share.end = count * (part + 1) / parts;
  }
  state_.store(open_bit, std::memory_order_release);
  run_number_.fetch_add(1, std::memory_order_release);
  run_number_.notify_all();
  is_inside_run = true;
  take_indices(0);
  is_inside_run = false;
  close_and_wait();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

} // namespace rafter::device
