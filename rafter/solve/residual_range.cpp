// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/residual_range.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rafter::solvers {
namespace {

/// Multiplies by a power of two. What exceeds the range of doubles becomes the largest of them, since tolerances are
/// finite.
double scaled(double value, int exponent) {
  return std::min(std::scalbn(value, exponent), std::numeric_limits<double>::max());
}

IterationControl scaled(const IterationControl& control, int exponent) {
  auto result = control;
  result.atol = scaled(control.atol, exponent);
  result.least_reference = scaled(control.least_reference, exponent);
  result.least_preconditioned_reference = scaled(control.least_preconditioned_reference, exponent);
  return result;
}

void scale(std::optional<Norms>& norms, int exponent) {
  if (!norms) return;
  norms->residual = std::scalbn(norms->residual, exponent);
  if (norms->preconditioned) norms->preconditioned = std::scalbn(*norms->preconditioned, exponent);
}

} // namespace

bool ResidualRange::accepts(double norm) {
  constexpr int largest = 100; // the square of 2^100 is 1e60
  const int exponent = std::ilogb(norm);
  if (std::abs(exponent) <= largest) return true;
  // Doubles hold 2^k and its inverse.
  constexpr int most = 1000;
  exponent_ = std::clamp(exponent, -most, most);
  return false;
}

Result solve_in_range(const op::LinearOperator& A, const Vector& b, Vector& x, const IterationControl& control,
                      const RangedSolve& solve) {
  ResidualRange range;
  Result first = solve(b, x, control, range);
  const int exponent = range.exponent();
  if (exponent == 0) return first;
  const double size = std::scalbn(1.0, exponent);
  const VectorOps ops(A);
  Vector right(A.device(), x.size()), correction(A.device(), x.size()), state(A.device(), x.size());
  A.apply(x, right);
  ops.subtract_from(b, right);
  ops.scale(1 / size, right);
  ops.fill(0, correction);
  auto own = scaled(control, -exponent);
  if (control.reference)
    own.reference = [&](const Vector& d) {
      ops.copy(x, state);
      ops.axpy(size, d, state);
      return scaled(control.reference(state), -exponent);
    };
  ResidualRange unit; // accepts a norm of about 1
  Result result = solve(right, correction, own, unit);
  ops.axpy(size, correction, x);
  scale(result.first_norms, exponent);
  scale(result.last_norms, exponent);
  if (result.status == Status::converged && !std::isfinite(ops.norm(x))) {
    result.status = Status::failed;
    result.failure = Failure::non_finite;
    result.message = std::string(name(result.failure)) + ": the solution exceeds the largest double, 1.8e308";
  }
  return result;
}

} // namespace rafter::solvers
