// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

#include <rafter/base/timing.hpp>

namespace rafter::op {

/// How often a form ran, and the seconds on the clock that this took. A device of its own has only queued its runs
/// then.
struct Usage {
  std::int64_t runs = 0;
  double seconds = 0;
};

/// Counts runs, which several threads may make at once.
class UsageCounter {
public:
  /// Counts one run, which lasts as long as what is returned.
  [[nodiscard]] base::Timer run() {
    runs_.fetch_add(1, std::memory_order_relaxed);
    return base::Timer(seconds_);
  }
  Usage usage() const { return {runs_, seconds_}; }

private:
  std::atomic<std::int64_t> runs_ = 0;
  std::atomic<double> seconds_ = 0;
};

} // namespace rafter::op
