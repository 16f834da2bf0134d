// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/decision.hpp>

namespace rafter::tune {

namespace {

// These numbers were chosen by hand on the sweeps of bench/data/sweeps and on artificial ones, and tested also on those
// of bench/data/sweeps_held_out.
constexpr double deviation_of_scale = 0.3; ///< deviation of the error that all plans share, in the logarithm of time
constexpr double deviation_of_plan = 0.16; ///< deviation of the errors that plans have apart from that
constexpr double noise = 0.02;             ///< relative deviation of timings
constexpr double confidence = 1.5;         ///< number of deviations below the expected time that a plan may still reach
constexpr std::size_t num_first = 2;       ///< plans that are timed first; after them, one plan at a time
constexpr int few_rounds = 3, many_rounds = 7;
constexpr std::size_t group_size = 8; ///< plans in memory at once in an exhaustive search

/// Covariance of the prediction errors of two plans.
double covariance(const Candidate& a, const Candidate& b) {
  return deviation_of_scale * deviation_of_scale + deviation_of_plan * deviation_of_plan * similarity(a.plan, b.plan);
}

/// The candidates, with what is known about them so far.
class TimedCandidates {
public:
  TimedCandidates(std::vector<Candidate>& candidates, const Measure& measure)
      : candidates_(candidates), measure_(measure) {}

  /// Chooses up to `count` plans that were not timed and may be fastest.
  std::vector<std::size_t> next(std::size_t count) const {
    std::vector<std::size_t> chosen;
    const double best = best_seconds(), trust = trust_in_bounds();
    while (chosen.size() < count) {
      std::size_t found = candidates_.size();
      double lowest = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (is_timed(i) || std::ranges::count(chosen, i) > 0) continue;
        if (trust * candidates_[i].bound_seconds > best) continue;
        const double hope = hoped(i, chosen);
        if (hope < lowest) {
          lowest = hope;
          found = i;
        }
      }
      if (found == candidates_.size()) break;
      chosen.push_back(found);
    }
    return chosen;
  }

  /// Times plans side by side. If the first was timed before, its two times give the factor between both timings.
  void time(const std::vector<std::size_t>& members, int rounds) {
    if (members.empty()) return;
    std::vector<schedule::Plan> plans;
    for (const auto i : members) plans.push_back(candidates_[i].plan);
    const auto seconds = measure_(plans, rounds);
    const auto before = candidates_[members.front()].measured_seconds;
    if (before && std::isfinite(seconds.front()))
      for (auto& candidate : candidates_)
        if (candidate.measured_seconds) *candidate.measured_seconds *= seconds.front() / *before;
    for (std::size_t k = 0; k < members.size(); ++k) candidates_[members[k]].measured_seconds = seconds[k];
  }

  /// The `count` fastest plans so far.
  std::vector<std::size_t> fastest(std::size_t count) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (is_timed(i)) order.push_back(i);
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return *candidates_[i].measured_seconds; });
    order.resize(std::min(order.size(), count));
    return order;
  }

private:
  bool is_timed(std::size_t i) const { return candidates_[i].measured_seconds.has_value(); }
  double best_seconds() const {
    double measured = std::numeric_limits<double>::infinity(), predicted = measured;
    for (const auto& c : candidates_) {
      predicted = std::min(predicted, c.predicted_seconds);
      if (c.measured_seconds) measured = std::min(measured, *c.measured_seconds);
    }
    return std::isfinite(measured) ? measured : predicted;
  }

  /// 1, or less when a plan was faster than its bound: ceilings measured on a busy machine are too low.
  double trust_in_bounds() const {
    double result = 1;
    for (const auto& c : candidates_)
      if (c.measured_seconds && c.bound_seconds > 0) result = std::min(result, *c.measured_seconds / c.bound_seconds);
    return result;
  }

  /// Logarithm of the time that plan i may reach, given all times so far and as if those of `pending` were known
  /// (simple kriging; Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, 2.2).
  double hoped(std::size_t i, const std::vector<std::size_t>& pending) const {
    const auto& candidate = candidates_[i];
    const auto mean = weights(candidate, {});
    double expected = std::log(candidate.predicted_seconds);
    for (const auto& [k, weight] : mean)
      expected += weight * std::log(*candidates_[k].measured_seconds / candidates_[k].predicted_seconds);
    double variance = covariance(candidate, candidate);
    for (const auto& [k, weight] : weights(candidate, pending))
      variance -= weight * covariance(candidate, candidates_[k]);
    return expected - confidence * std::sqrt(std::max(variance, 0.0));
  }
  /// Weights of the best linear prediction of a candidate's error from the errors of timed (and pending) plans.
  std::vector<std::pair<std::size_t, double>> weights(const Candidate& candidate,
                                                      const std::vector<std::size_t>& pending) const {
    std::vector<std::size_t> known = pending;
    for (std::size_t k = 0; k < candidates_.size(); ++k)
      if (is_timed(k) && std::isfinite(*candidates_[k].measured_seconds)) known.push_back(k);
    const std::size_t n = known.size();
    std::vector<double> matrix(n * n), right(n);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) matrix[r * n + c] = covariance(candidates_[known[r]], candidates_[known[c]]);
      matrix[r * n + r] += noise * noise;
      right[r] = covariance(candidate, candidates_[known[r]]);
    }
    const auto inverse = element::inverse(std::move(matrix), static_cast<int>(n));
    std::vector<std::pair<std::size_t, double>> result;
    for (std::size_t r = 0; r < n; ++r)
      result.emplace_back(known[r], std::inner_product(right.begin(), right.end(),
                                                       inverse.begin() + static_cast<std::ptrdiff_t>(r * n), 0.0));
    return result;
  }

  std::vector<Candidate>& candidates_;
  const Measure& measure_;
};

void search_everything(std::vector<Candidate>& candidates, TimedCandidates& timed) {
  for (std::size_t first = 0; first < candidates.size(); first += group_size - 1) {
    auto members = timed.fastest(1);
    for (std::size_t i = first; i < std::min(candidates.size(), first + group_size - 1); ++i) members.push_back(i);
    timed.time(members, many_rounds);
  }
}

} // namespace

std::vector<Candidate> search(std::vector<Candidate> candidates, const Measure& measure, const SearchOptions& options) {
  TimedCandidates timed(candidates, measure);
  if (options.is_exhaustive)
    search_everything(candidates, timed);
  else {
    const std::size_t first = std::min(num_first, options.most_plans);
    timed.time(timed.next(first), few_rounds);
    for (std::size_t count = first; count < options.most_plans; ++count) {
      auto members = timed.fastest(1);
      const auto more = timed.next(1);
      if (more.empty()) break;
      members.push_back(more.front());
      timed.time(members, few_rounds);
    }
  }
  if (const auto finalists = timed.fastest(2); finalists.size() == 2) timed.time(finalists, many_rounds);
  const auto time = [](const Candidate& c) {
    return c.measured_seconds.value_or(std::numeric_limits<double>::infinity());
  };
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    if (time(a) != time(b)) return time(a) < time(b);
    if (a.predicted_seconds != b.predicted_seconds) return a.predicted_seconds < b.predicted_seconds;
    return schedule::to_string(a.plan) < schedule::to_string(b.plan); // Store::find() has this order, too.
  });
  if (candidates.empty() || !std::isfinite(time(candidates.front())))
    throw base::EnvironmentError(
        "none of the plans that were tried compiles and runs; `rafter doctor` tests the compilers");
  return candidates;
}

} // namespace rafter::tune
