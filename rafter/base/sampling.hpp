// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <vector>

/// Timing things side by side: in every round each of them is sampled once, so that drifts of the machine hit all
/// alike.
namespace rafter::base {

struct SamplingOptions {
  int rounds = 9;
  double sample_seconds = 0.15; ///< that a sample takes, roughly; at least one call
  int threads = 1;              ///< that a call keeps busy
};

/// Seconds of one call, shape (call, round): by the clock of the processor for one thread, by the wall clock for
/// several. Every call is warmed up first, at least once. Functions that are empty have no samples.
using Samples = std::vector<std::vector<double>>;
Samples sample(std::span<const std::function<void()>> calls, const SamplingOptions& options);

/// One call alone.
struct Timing {
  double median = 0, best = 0, worst = 0; ///< seconds
  double spread() const { return (worst - best) / median; }
};
Timing timing_of(const std::vector<double>& seconds);

/// Medians that drifts do not shift against each other: times as multiples of their round's geometric mean, whose
/// median gives the scale back. Infinite without samples.
std::vector<double> steady_medians(const Samples& samples);

/// Median over the rounds of seconds[r] / reference[r].
double median_ratio(const std::vector<double>& seconds, const std::vector<double>& reference);

} // namespace rafter::base
