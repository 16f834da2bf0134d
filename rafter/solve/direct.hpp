// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Solves A x = b by the factors of A and iterative refinement (Higham, Accuracy and stability of numerical algorithms,
/// 2nd ed., chapter 12): x += M (b - A x), where M is A^-1 up to rounding. Iterations are these steps; one is enough
/// unless rounding errors, or factors of a matrix rounded elsewhere, leave more than the tolerance. Refinement that
/// gains nothing ends the solve: converged, with a warning, at the level of rounding errors, else stagnated. `x` holds
/// the initial guess and receives the solution. Throws InputError when M is not the factors of a matrix.
Result direct(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control = {});

} // namespace rafter::solvers
