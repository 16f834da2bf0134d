// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/line_search.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {
namespace {

/// A relative difference of energies below this one is rounding, and their slopes decide.
constexpr double energy_rounding = 1e-10;

class LineSearch {
public:
  LineSearch(const TrialState& start, const LineSearchParameters& parameters) : start_(start), parameters_(parameters) {
    lower_slope_ = start.slope;
  }

  bool accepts(double s, const TrialState& state) const {
    if (!state.is_finite) return false;
    if (state.energy && start_.energy && start_.slope < 0) return accepts_energy(s, state);
    if (start_.slope >= 0) return state.residual <= (1 - 1e-4 * s) * start_.residual;
    return accepts_slope(state) || state.residual <= parameters_.residual_share * start_.residual;
  }

  /// Returns the length to try after s, which was not accepted.
  double next(double s, const TrialState& state) {
    if (!state.is_finite) return lower_ + 0.5 * (s - lower_);
    if (start_.slope >= 0) return 0.5 * s;
    if (state.energy && start_.energy) {
      const double excess = *state.energy - *start_.energy - start_.slope * s;
      return excess > 0 ? std::clamp(-0.5 * start_.slope * s * s / excess, 0.1 * s, 0.5 * s) : 0.5 * s;
    }
    return next_in_bracket(s, state);
  }

private:
  bool accepts_energy(double s, const TrialState& state) const {
    const double change = *state.energy - *start_.energy;
    if (std::abs(change) <= energy_rounding * std::max(std::abs(*state.energy), std::abs(*start_.energy)))
      return accepts_slope(state);
    return change <= parameters_.energy_share * s * start_.slope;
  }

  bool accepts_slope(const TrialState& state) const {
    if (std::abs(state.slope) <= parameters_.slope_share * std::abs(start_.slope)) return true;
    return upper_ == 0 && state.slope < 0;
  }

  /// Returns a length between lower_, where the slope is negative, and upper_, where it is positive: a zero of the
  /// slope lies between them. The slope of an end that stays for the second time counts half (Illinois method).
  double next_in_bracket(double s, const TrialState& state) {
    if (state.slope < 0) {
      lower_ = s;
      lower_slope_ = state.slope;
      if (last_ == Moved::lower) upper_slope_ *= 0.5;
      last_ = Moved::lower;
    } else {
      upper_ = s;
      upper_slope_ = state.slope;
      if (last_ == Moved::upper) lower_slope_ *= 0.5;
      last_ = Moved::upper;
    }
    const double share = lower_slope_ / (lower_slope_ - upper_slope_);
    return lower_ + std::clamp(share, 0.05, 0.95) * (upper_ - lower_);
  }

  enum class Moved { none, lower, upper };
  TrialState start_;
  LineSearchParameters parameters_;
  double lower_ = 0, upper_ = 0; ///< upper_ = 0: no length with a positive slope is known
  double lower_slope_ = 0, upper_slope_ = 0;
  Moved last_ = Moved::none;
};

} // namespace

LineSearchResult search_line(const std::function<TrialState(double length)>& trial, const TrialState& start,
                             const LineSearchParameters& parameters) {
  LineSearch search(start, parameters);
  double length = 1;
  for (int trials = 1; trials <= parameters.max_trials; ++trials) {
    const auto state = trial(length);
    if (search.accepts(length, state)) return {.is_found = true, .length = length, .trials = trials};
    length = search.next(length, state);
  }
  return {.is_found = false, .length = length, .trials = parameters.max_trials};
}

} // namespace rafter::solvers
