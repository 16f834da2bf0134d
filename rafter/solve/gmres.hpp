// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// right: A M^-1 (M x) = b, residuals are those of the system itself; left: M^-1 A x = M^-1 b, residuals are
/// preconditioned ones.
enum class Side { right, left };

struct GmresParameters {
  IterationControl control;
  int restart = 50; ///< vectors kept; memory is (restart + 4) vectors
  Side side = Side::right;
};

/// Restarted GMRES (Saad and Schultz 1986, doi:10.1137/0907058) with twice-iterated classical Gram-Schmidt, for any
/// regular operator. `x` holds the initial guess and receives the solution; b = 0 gives x = 0 at once. Convergence is
/// confirmed with the residual recomputed from x. Numerical failures are reported in the result, not thrown; InputError
/// for restart < 1.
Result gmres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const GmresParameters& parameters = {});

} // namespace rafter::solvers
