// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Solves A x = b by stabilised biconjugate gradients (van der Vorst 1992, doi:10.1137/0913035), for any regular
/// operator whose eigenvalues do not lie close to the imaginary axis. The preconditioner is applied on the right, so
/// that residuals are those of the system itself, and it may change a little from one application to the next (Chen,
/// McInnes and Zhang 2016, doi:10.1007/s10915-015-0159-4). An iteration takes two products with A and two with M^-1,
/// and the method keeps seven vectors, however many iterations it takes. Residuals do not fall monotonically.
///
/// The iteration starts again from the present residual if it breaks down, because the residual or its image is
/// orthogonal to the shadow residual or the stabilising step has no length. It has failed where the first step after
/// that has no length either. `x` holds the initial guess and receives the solution; b = 0 gives x = 0 at once.
/// Convergence is confirmed with b - A x itself. Numerical failures are reported in the result, not thrown. Throws
/// InputError for control.norm other than Norm::residual.
Result bicgstab(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                const IterationControl& control = {});

} // namespace rafter::solvers
