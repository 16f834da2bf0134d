// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace rafter::solvers {

/// Parameters of ForcingTerms.
struct ForcingParameters {
  double first = 0.1;    ///< term of the first step
  double largest = 0.5;  ///< no term is larger
  double gamma = 0.9;    ///< factor of the ratio of residuals
  double exponent = 2;   ///< exponent of that ratio, which is the order of convergence
  double smallest = 0.0; ///< no term is smaller
};

/// Chooses relative tolerances of the linear systems within Newton's method: eta_k = gamma (|R_k| /
/// |R_(k-1)|)^exponent, the second choice of Eisenstat and Walker (1996, doi:10.1137/0917003) with both of its
/// safeguards: a term falls slowly where the one before was large (gamma eta_(k-1)^exponent > 0.1), and the last system
/// is not solved more accurately than the tolerance of R asks for.
class ForcingTerms {
public:
  /// Throws InputError for parameters out of range.
  explicit ForcingTerms(const ForcingParameters& parameters = {});

  /// Returns the term for a residual of norm `norm`; the iteration ends at a residual of norm `target`.
  double next(double norm, double target);

private:
  ForcingParameters parameters_;
  double previous_norm_ = 0, previous_term_ = 0; ///< 0: there was no step yet
};

} // namespace rafter::solvers
