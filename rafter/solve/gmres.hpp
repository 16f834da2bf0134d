// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Says where the preconditioner is applied. Right: A M^-1 (M x) = b, whose residuals are those of the system itself;
/// left: M^-1 A x = M^-1 b, whose residuals are preconditioned ones.
enum class Side { right, left };

/// Parameters of gmres().
struct GmresParameters {
  IterationControl control;
  /// Iterations between restarts. Besides x and b the method keeps up to (restart + 3) vectors, and as many again for a
  /// preconditioner that changes.
  int restart = 50;
  Side side = Side::right;
};

/// Solves A x = b by restarted GMRES (Saad and Schultz 1986, doi:10.1137/0907058) with twice-iterated classical
/// Gram-Schmidt, for any regular operator. `x` holds the initial guess and receives the solution; b = 0 gives x = 0 at
/// once. A preconditioner that changes from one application to the next (Preconditioner::is_variable) or rounds to
/// floats (is_single) makes it flexible GMRES (make_flexible_steps), the former on the right side alone. Convergence is
/// confirmed with the residual recomputed from x. Numerical failures are reported in the result, not thrown. Throws
/// InputError for restart < 1, for control.norm other than Norm::residual, and on the left side for a preconditioner
/// that changes.
Result gmres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const GmresParameters& parameters = {});

} // namespace rafter::solvers
