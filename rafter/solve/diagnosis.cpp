// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/diagnosis.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

namespace {

/// Returns "first at entry 7", or "on another process" where all entries of this one are finite.
std::string first_of(const VectorOps& ops, const Vector& x) {
  const auto first = ops.first_non_finite(x);
  return first < 0 ? "on another process" : fmt::format("first at entry {}", first);
}

} // namespace

double free_norm(const op::LinearOperator& A, const VectorOps& ops, const Vector& b) {
  Vector loads(A.device(), b.size());
  ops.copy(b, loads);
  const auto entries = loads.host_write();
  for (const auto entry : A.constrained_entries()) entries[static_cast<std::size_t>(entry)] = 0;
  return ops.norm(loads);
}

std::optional<Result> prepare(const op::LinearOperator& A, const Vector& b, Vector& x, const VectorOps& ops,
                              Progress& progress, Vector& r, double& norm, ResidualRange* range) {
  if (b.size() != static_cast<std::size_t>(A.size()) || x.size() != b.size())
    throw base::InternalError(fmt::format(
        "solve: operator of {} rows, right-hand side of {} and solution of {} entries", A.size(), b.size(), x.size()));
  const double b_norm = ops.norm(b);
  if (!std::isfinite(b_norm))
    return progress.failed(Failure::non_finite,
                           fmt::format("the right-hand side is not finite or too large ({})", first_of(ops, b)));
  if (b_norm == 0) {
    ops.fill(0, x);
    progress.start(0, 0);
    return progress.converged();
  }
  A.apply(x, r);
  ops.subtract_from(b, r);
  norm = ops.norm(r);
  if (!std::isfinite(norm))
    return progress.failed(
        Failure::non_finite,
        fmt::format("the operator applied to the initial guess gives NaN or Inf ({}); check coefficients for divisions "
                    "by zero, roots and logarithms",
                    first_of(ops, r)));
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  double loads = b_norm;
  if (norm <= rounding * b_norm) loads = free_norm(A, ops, b);
  const bool is_solved = norm <= rounding * loads;
  progress.start(norm, is_solved ? loads : norm);
  if (is_solved || norm <= progress.target()) return progress.converged();
  if (range != nullptr && !range->accepts(norm)) return progress.not_converged();
  return std::nullopt;
}

namespace {

/// Returns a lower bound of |A|_2, which is of about its size, by the power method from r. The residual r is zero
/// wherever A is the identity in place of equations that conditions have replaced; a random vector would not be.
double estimate_norm(const op::LinearOperator& A, const VectorOps& ops, const Vector& r) {
  constexpr int num_steps = 8;
  Vector v(A.device(), r.size()), image(A.device(), r.size());
  ops.copy(r, v);
  double estimate = 0, norm = ops.norm(v);
  for (int step = 0; step < num_steps && norm > 0 && std::isfinite(norm); ++step) {
    ops.scale(1 / norm, v);
    A.apply(v, image);
    norm = ops.norm(image);
    estimate = std::max(estimate, norm);
    std::swap(v, image);
  }
  return estimate;
}

} // namespace

bool RoundingLevel::holds(const Vector& r, double r_norm, const Vector& x, const Vector& b) {
  if (operator_norm_ == 0) operator_norm_ = estimate_norm(A_, ops_, r);
  constexpr double most = 0.1;
  least_ = std::numeric_limits<double>::epsilon() * operator_norm_ * ops_.norm(x);
  const double level = num_roundings * least_;
  return r_norm <= level && r_norm <= most * free_norm(A_, ops_, b);
}

Result RoundingLevel::converged(double norm, Progress& progress) {
  auto result = progress.converged(fmt::format("the relative residual is {:.2e}, which is the level of rounding errors "
                                               "of double precision here: the tolerance of "
                                               "{:.2e} cannot be reached",
                                               norm / progress.reference(), progress.control().rtol));
  result.is_at_rounding = true;
  return result;
}

bool is_null_vector(const op::LinearOperator& A, const VectorOps& ops, const Vector& v) {
  Vector probe(A.device(), v.size()), image(A.device(), v.size());
  ops.fill_random(0, probe);
  A.apply(probe, image);
  const double scale = ops.norm(image) / ops.norm(probe);
  A.apply(v, image);
  return ops.norm(image) <= 1e-4 * scale * ops.norm(v);
}

std::string describe_stuck(double norm) {
  return fmt::format(
      "the residual b - A x stays at {:.2e} while the one that the iteration updates falls: the tolerance "
      "is below what the operator's precision can reach here",
      norm);
}

std::optional<Result> Confirmation::judge(const Vector& r, double r_norm, double norm) {
  if (norm <= progress_.target()) return progress_.converged();
  if (norm > 0.5 * last_) {
    if (rounding_.holds(r, r_norm, x_, b_)) return RoundingLevel::converged(norm, progress_);
    return progress_.failed(Failure::stagnated, describe_stuck(norm) + null_space_hint(A_, ops_, r));
  }
  last_ = norm;
  return std::nullopt;
}

std::string null_space_hint(const op::LinearOperator& A, const VectorOps& ops, const Vector& v) {
  if (!is_null_vector(A, ops, v)) return {};
  return fmt::format("; the operator seems to be singular and the system without a solution{}", singular_advice);
}

} // namespace rafter::solvers
