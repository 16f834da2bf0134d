// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

struct CgParameters {
  IterationControl control;
};

/// Preconditioned conjugate gradients (Hestenes and Stiefel 1952, doi:10.6028/jres.049.044) for a symmetric positive
/// definite operator and preconditioner. `x` holds the initial guess and receives the solution; b = 0 gives x = 0 at
/// once. Convergence is confirmed with the residual b - A x itself, not the recursive one. Numerical failures are told
/// in the result, not thrown.
Result cg(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
          const CgParameters& parameters = {});

} // namespace rafter::solvers
