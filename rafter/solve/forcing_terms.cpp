// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/forcing_terms.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

ForcingTerms::ForcingTerms(const ForcingParameters& parameters) : parameters_(parameters) {
  const auto& p = parameters_;
  if (!(p.smallest >= 0 && p.smallest <= p.largest && p.first > 0 && p.largest > 0 && p.largest < 1 && p.gamma > 0 &&
        p.gamma <= 1 && p.exponent > 1 && p.exponent <= 2))
    throw base::InputError("forcing terms: accepted are first > 0, 0 <= smallest <= largest < 1, 0 < gamma <= 1 and "
                           "1 < exponent <= 2");
}

double ForcingTerms::next(double norm, double target) {
  double term = parameters_.first;
  if (previous_norm_ > 0) {
    term = parameters_.gamma * std::pow(norm / previous_norm_, parameters_.exponent);
    const double slow = parameters_.gamma * std::pow(previous_term_, parameters_.exponent);
    if (slow > 0.1) term = std::max(term, slow);
  }
  if (norm > 0) term = std::max(term, 0.5 * target / norm);
  term = std::clamp(term, parameters_.smallest, parameters_.largest);
  previous_norm_ = norm;
  previous_term_ = term;
  return term;
}

} // namespace rafter::solvers
