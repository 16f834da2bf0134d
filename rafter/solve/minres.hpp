// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Solves A x = b by preconditioned minimal residuals (Paige and Saunders, SIAM J. Numer. Anal. 12 (1975) 617-629,
/// doi:10.1137/0712047; with a preconditioner as Elman, Silvester and Wathen, Finite Elements and Fast Iterative
/// Solvers, 2nd ed., algorithm 4.1), for a symmetric operator, which may be indefinite, and a symmetric positive
/// definite preconditioner M^-1. The method minimises (r, M^-1 r) and keeps seven vectors, however many iterations it
/// takes. Norm::preconditioned judges the root of that, Norm::residual the 2-norm of r. `x` holds the initial guess and
/// receives the solution. Convergence is confirmed with b - A x itself. Numerical failures are reported in the result,
/// not thrown. Throws InputError for a preconditioner that changes from one application to the next
/// (Preconditioner::is_variable), because the method's three-term recursion needs a fixed one.
Result minres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control = {});

} // namespace rafter::solvers
