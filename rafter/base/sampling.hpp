// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <vector>

/// Times several functions side by side: each round samples each of them once, so that changes in the machine's speed
/// affect all in the same way.
namespace rafter::base {

struct SamplingOptions {
  int rounds = 9;
  double sample_seconds = 0.15; ///< approximate length of a sample, which has at least one call
  int threads = 1;              ///< threads that a call uses
  /// Waits for what calls have begun on a device, whose time is not that of the processor; null: calls do all their
  /// work on the processor. It ends every sample.
  std::function<void()> finish = {};
};

/// Seconds of one call, shape (call, round): processor time for one thread, elapsed time for several and for devices.
/// Every function is
/// warmed up by at least one call. Empty functions have no samples.
using Samples = std::vector<std::vector<double>>;
Samples sample(std::span<const std::function<void()>> calls, const SamplingOptions& options);

/// Summary of the samples of one function.
struct Timing {
  double median = 0, best = 0, worst = 0; ///< seconds
  double spread() const { return (worst - best) / median; }
};
Timing timing_of(const std::vector<double>& seconds);

/// Medians that are comparable even if the machine's speed changes between rounds: times are taken as multiples of
/// their round's geometric mean, and the median of these means restores the scale. Infinite for functions without
/// samples.
std::vector<double> steady_medians(const Samples& samples);

/// Median over the rounds of seconds[r] / reference[r].
double median_ratio(const std::vector<double>& seconds, const std::vector<double>& reference);

} // namespace rafter::base
