// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include <rafter/solve/result.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

/// Decides whether an iteration may compute products of residuals, which are of the size of their squares: doubles hold
/// these only for residuals within a part of their range.
class ResidualRange {
public:
  /// Returns whether products of residuals are representable that begin with this norm, above 0 and finite. Operators
  /// and preconditioners may be larger or smaller than 1 by 120 decimal orders. If not, exponent() is that of the norm.
  bool accepts(double norm);
  int exponent() const { return exponent_; } ///< 0: all norms were accepted

private:
  int exponent_ = 0;
};

/// Solves A x = b from x on, as far as the control asks for. If the range does not accept the norm of the first
/// residual, it returns at once and leaves x as it is.
using RangedSolve =
    std::function<Result(const Vector& b, Vector& x, const IterationControl& control, ResidualRange& range)>;

/// Runs a solve of A x = b and, where the first residual r is out of its range, solves A d = r / 2^k instead, from d =
/// 0 on, and adds 2^k d to x. k is the exponent of |r|, so that the division is exact. Fails where x is then no longer
/// finite.
Result solve_in_range(const op::LinearOperator& A, const Vector& b, Vector& x, const IterationControl& control,
                      const RangedSolve& solve);

} // namespace rafter::solvers
