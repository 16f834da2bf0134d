// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/line_search.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {
namespace {

/// A relative difference of energies below this one is rounding, and their slopes decide.
constexpr double energy_rounding = 1e-10;
/// Lengths this close are one: what lies between them is a jump and no zero.
constexpr double least_bracket = 1e-12;

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

  /// Says whether a zero of the slope is known to lie between two lengths.
  bool has_bracket() const { return upper_ - lower_ > least_bracket; }

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
  /// slope lies between them. The slope of an end that stays for the second time counts half (Illinois method). If it
  /// stays once more the bracket is halved: behind a kink, as penalties of contact have it, slopes are larger by so
  /// many orders of magnitude that they say nothing of the place of the zero.
  double next_in_bracket(double s, const TrialState& state) {
    const auto moved = state.slope < 0 ? Moved::lower : Moved::upper;
    num_alike_ = moved == last_ ? num_alike_ + 1 : 1;
    last_ = moved;
    if (moved == Moved::lower) {
      lower_ = s;
      lower_slope_ = state.slope;
      if (num_alike_ > 1) upper_slope_ *= 0.5;
    } else {
      upper_ = s;
      upper_slope_ = state.slope;
      if (num_alike_ > 1) lower_slope_ *= 0.5;
    }
    const double share = lower_slope_ / (lower_slope_ - upper_slope_);
    return lower_ + (num_alike_ > 2 ? 0.5 : std::clamp(share, 0.05, 0.95)) * (upper_ - lower_);
  }

  enum class Moved { none, lower, upper };
  TrialState start_;
  LineSearchParameters parameters_;
  double lower_ = 0, upper_ = 0; ///< upper_ = 0: no length with a positive slope is known
  double lower_slope_ = 0, upper_slope_ = 0;
  Moved last_ = Moved::none;
  int num_alike_ = 0; ///< moves of the end that moved last, one after the other
};

} // namespace

LineSearchResult search_line(const std::function<TrialState(double length)>& trial, const TrialState& start,
                             const LineSearchParameters& parameters) {
  LineSearch search(start, parameters);
  double length = 1;
  int trials = 0;
  while (trials < parameters.max_trials || (search.has_bracket() && trials < parameters.max_bracketed_trials)) {
    const auto state = trial(length);
    ++trials;
    if (search.accepts(length, state)) return {.is_found = true, .length = length, .trials = trials};
    length = search.next(length, state);
  }
  return {.is_found = false, .length = length, .trials = trials};
}

} // namespace rafter::solvers
