// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/sampling.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <rafter/base/timing.hpp>

namespace rafter::base {
namespace {

/// Processor seconds of `repeats` calls.
double seconds_of(const std::function<void()>& call, int repeats) {
  const double start = cpu_seconds();
  for (int i = 0; i < repeats; ++i) call();
  return cpu_seconds() - start;
}

/// Number of calls that make a sample long enough.
int warmed_up(const std::function<void()>& call, double seconds) {
  call();
  for (int repeats = 1;; repeats *= 2) {
    const double elapsed = seconds_of(call, repeats);
    if (elapsed >= seconds / 2) return std::max(1, static_cast<int>(std::ceil(repeats * seconds / elapsed)));
  }
}

} // namespace

Samples sample(std::span<const std::function<void()>> calls, const SamplingOptions& options) {
  std::vector<int> repeats(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i]) repeats[i] = warmed_up(calls[i], options.sample_seconds * options.threads);
  Samples samples(calls.size());
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i]) samples[i].push_back(seconds_of(calls[i], repeats[i]) / repeats[i] / options.threads);
  return samples;
}

Timing timing_of(const std::vector<double>& seconds) {
  const auto [best, worst] = std::ranges::minmax(seconds);
  return {median(seconds), best, worst};
}

std::vector<double> steady_medians(const Samples& samples) {
  std::vector<double> means;
  const std::size_t rounds = std::ranges::max(samples, {}, &std::vector<double>::size).size();
  for (std::size_t r = 0; r < rounds; ++r) {
    double sum = 0;
    int count = 0;
    for (const auto& times : samples)
      if (!times.empty()) {
        sum += std::log(times[r]);
        ++count;
      }
    means.push_back(std::exp(sum / count));
  }
  std::vector<double> result;
  for (const auto& times : samples)
    result.push_back(times.empty() ? std::numeric_limits<double>::infinity()
                                   : median_ratio(times, means) * median(means));
  return result;
}

double median_ratio(const std::vector<double>& seconds, const std::vector<double>& reference) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < seconds.size(); ++r) ratios.push_back(seconds[r] / reference[r]);
  return median(std::move(ratios));
}

} // namespace rafter::base
