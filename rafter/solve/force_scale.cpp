// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/force_scale.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {

void ForceScale::begin(double residual) {
  load_ = std::max(load_, residual);
  forces_ = std::numeric_limits<double>::infinity();
  is_balanced_ = false;
  magnitude_ = 0;
}

void ForceScale::set_forces(double norm, double residual) {
  constexpr double small_part = 0.1;
  forces_ = norm;
  is_balanced_ = residual < small_part * norm;
}

double ForceScale::load_and(double reactions) const { return std::hypot(load_, reactions); }

double ForceScale::reference(double reactions) const {
  if (is_free_of_forces(reactions)) return magnitude_;
  const double load = load_and(reactions);
  return std::min(load, is_balanced_ ? forces_ : std::max(forces_, state_rounding / rtol_ * load));
}

double ForceScale::target(double reactions) const {
  const double share = is_free_of_forces(reactions) ? std::min(rtol_, state_rounding) : rtol_;
  return std::max(share * reference(reactions), atol_);
}

} // namespace rafter::solvers
