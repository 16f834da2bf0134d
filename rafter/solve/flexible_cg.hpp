// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/cg_steps.hpp>

namespace rafter::solvers {

/// Returns the coefficient beta of the new search direction p = z + beta p of flexible conjugate gradients, for a
/// preconditioner that changes from one application to the next (Notay 2000, doi:10.1137/S1064827599362314, with one
/// direction kept): beta = z.(r - r_before) / (r_before.z_before), the form of Polak and Ribiere. The last step of
/// length `alpha` has changed r by -alpha A p, so that no other residual is kept. With this beta the new direction is
/// A-orthogonal to the last one whatever M^-1 was, and with a fixed M^-1 it is that of cg. `previous_rz` is
/// r_before.z_before.
double flexible_beta(const CgSteps& steps, double alpha, double previous_rz);

} // namespace rafter::solvers
