// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/flexible_cg.hpp>

namespace rafter::solvers {

double flexible_beta(const CgSteps& steps, double alpha, double previous_rz) {
  return -alpha * steps.energy_with_direction() / previous_rz;
}

} // namespace rafter::solvers
