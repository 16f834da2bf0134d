// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>

namespace rafter::solvers {

/// The data of a state u + s du.
struct TrialState {
  bool is_finite = false;       ///< says whether the residual, and the energy where there is one, are finite
  double slope = 0;             ///< G(s) = du . R(u + s du), the derivative of the energy where R has one
  double residual = 0;          ///< |R(u + s du)|
  std::optional<double> energy; ///< E(u + s du), whose gradient is R; nothing: R has none, or it is not known
};

/// Parameters of search_line().
struct LineSearchParameters {
  double slope_share = 0.8;      ///< |G(s)| <= slope_share |G(0)| accepts a length
  double residual_share = 0.5;   ///< so does |R(u + s du)| <= residual_share |R(u)|, where no energy is known
  double energy_share = 1.0e-4;  ///< E(u + s du) <= E(u) + energy_share s G(0) accepts a length with an energy
  int max_trials = 12;           ///< largest number of lengths that are tried
  int max_bracketed_trials = 80; ///< the same where a zero of the slope is known to lie between two of them
};

/// Result of search_line().
struct LineSearchResult {
  bool is_found = false;
  double length = 1; ///< the length that was found; else the one that would be tried next
  int trials = 0;
};

/// Finds a length s of the step du from u; `start` is the state at s = 0, and `trial` returns the state at a length.
/// The full step comes first. With an energy the length is reduced until the energy falls (Armijo's condition, with
/// quadratic interpolation); without one a root of the slope is bracketed and approached by the Illinois method
/// (Matthies and Strang 1979, doi:10.1002/nme.1620141104), as far as the parameters ask for. A slope that stays
/// negative over the step accepts it, because the energy falls all along. If du does not descend (G(0) >= 0, as
/// operators without an energy may have it) the norm of the residual decides. A state that is not finite halves the
/// length.
LineSearchResult search_line(const std::function<TrialState(double length)>& trial, const TrialState& start,
                             const LineSearchParameters& parameters = {});

} // namespace rafter::solvers
