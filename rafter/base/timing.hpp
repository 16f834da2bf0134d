// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <chrono>
#include <vector>

/// Clocks and median for measurements.
namespace rafter::base {

/// Processor time in seconds of all threads of this process, on which other processes have little influence.
double cpu_seconds();

/// Adds the seconds of its scope, as the clock on the wall counts them, to a total to which several threads may add.
class Timer {
public:
  explicit Timer(std::atomic<double>& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Timer() {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    total_.fetch_add(taken.count(), std::memory_order_relaxed);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

private:
  std::atomic<double>& total_;
  std::chrono::steady_clock::time_point start_;
};

/// The median; of an even number of values, the upper of the middle two. There must be at least one value.
double median(std::vector<double> values);

} // namespace rafter::base
