// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/sampling.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>

#include <rafter/base/timing.hpp>

namespace rafter::base {
namespace {

/// Time in seconds. For one thread it is processor time, which leaves out what other processes take. Several threads
/// wait for each other, so only elapsed time counts their waiting.
double now(const SamplingOptions& options) {
  if (options.threads == 1 && !options.finish) return cpu_seconds();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Time in seconds of `repeats` calls.
double seconds_of(const std::function<void()>& call, int repeats, const SamplingOptions& options) {
  const double start = now(options);
  for (int i = 0; i < repeats; ++i) call();
  if (options.finish) options.finish();
  return now(options) - start;
}

/// Warms up a function, and returns the number of calls that make a sample long enough.
int warmed_up(const std::function<void()>& call, const SamplingOptions& options) {
  call();
  for (int repeats = 1;; repeats *= 2) {
    const double elapsed = seconds_of(call, repeats, options);
    if (elapsed >= options.sample_seconds / 2)
      return std::max(1, static_cast<int>(std::ceil(repeats * options.sample_seconds / elapsed)));
  }
}

} // namespace

Samples sample(std::span<const std::function<void()>> calls, const SamplingOptions& options) {
  std::vector<int> repeats(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i]) repeats[i] = warmed_up(calls[i], options);
  Samples samples(calls.size());
  for (int round = 0; round < options.rounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i]) samples[i].push_back(seconds_of(calls[i], repeats[i], options) / repeats[i]);
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
