// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/solve/progress.hpp>
#include <rafter/solve/residual_range.hpp>
#include <rafter/solve/vector_ops.hpp>

/// Checks what all Krylov methods check, and explains why a solve failed.
namespace rafter::solvers {

inline constexpr std::string_view singular_advice =
    "; a problem with Neumann conditions alone fixes its solution only "
    "up to a constant (elasticity: a rigid motion): add a "
    "Dirichlet condition or a term without derivatives, or say what fixes the "
    "null space ([[constraint]])";

/// Returns the 2-norm of b without its constrained entries: these hold boundary values, whose unit is not that of
/// residuals.
double free_norm(const op::LinearOperator& A, const VectorOps& ops, const Vector& b);

/// Computes r = b - A x and its 2-norm. Returns a result when there is nothing to iterate: b is not finite, b = 0 (then
/// x = 0), A x is not finite, or x is a solution already, to rounding or to atol. Otherwise `progress` is started with
/// this norm. It also returns one, of no meaning, where `range` does not accept the norm. Throws InternalError for
/// vectors of another size.
std::optional<Result> prepare(const op::LinearOperator& A, const Vector& b, Vector& x, const VectorOps& ops,
                              Progress& progress, Vector& r, double& norm, ResidualRange* range = nullptr);

/// Says whether residuals are as small as rounding errors leave them: |b - A x| <= 16 eps |A| |x| in 2-norms, a
/// backward error of a few roundings (Higham, Accuracy and stability of numerical algorithms, 2nd ed., section 7.1).
/// The answer is no for residuals above a tenth of b. A singular operator may let x grow until any residual is that
/// small beside it, which run_method() finds out.
class RoundingLevel {
public:
  static constexpr double num_roundings = 16; ///< residuals may be so many times eps |A| |x|
  RoundingLevel(const op::LinearOperator& A, const VectorOps& ops) : A_(A), ops_(ops) {}
  /// `r` is b - A x, or a preconditioned residual, which serves as well; r_norm is the 2-norm of b - A x. The first
  /// call estimates |A| by some steps of the power method from r.
  bool holds(const Vector& r, double r_norm, const Vector& x, const Vector& b);
  /// eps |A| |x| of the last call, below which no residual b - A x can be expected; 0 before it.
  double least() const { return least_; }
  /// Ends a solve whose residual has this norm, for which holds() is true, with a warning.
  static Result converged(double norm, Progress& progress);

private:
  const op::LinearOperator& A_;
  const VectorOps& ops_;
  double operator_norm_ = 0; ///< 0: it is not known yet
  double least_ = 0;
};

/// Returns true if |A v| is negligible against |v| and the size of A (as a random vector shows it): v is in the null
/// space, or so nearly that no solver sees the difference.
bool is_null_vector(const op::LinearOperator& A, const VectorOps& ops, const Vector& v);

/// Explains a residual b - A x of this norm that does not follow the residual which an iteration updates.
std::string describe_stuck(double norm);

/// Advice to append when a solve failed. It is not empty if v, a residual or search direction, is a null vector of A.
std::string null_space_hint(const op::LinearOperator& A, const VectorOps& ops, const Vector& v);

/// Judges b - A x each time that the residual which an iteration updates has reached its target.
class Confirmation {
public:
  Confirmation(const op::LinearOperator& A, const Vector& b, const Vector& x, const VectorOps& ops, Progress& progress,
               RoundingLevel& rounding)
      : A_(A), b_(b), x_(x), ops_(ops), progress_(progress), rounding_(rounding) {}
  /// `r` is b - A x, of 2-norm `r_norm`, and `norm` the norm of it that is judged. Returns how the solve ends, or
  /// nothing where the iteration is to begin again from r: it has halved that norm since the last time at least.
  std::optional<Result> judge(const Vector& r, double r_norm, double norm);

private:
  const op::LinearOperator& A_;
  const Vector &b_, &x_;
  const VectorOps& ops_;
  Progress& progress_;
  RoundingLevel& rounding_;
  double last_ = std::numeric_limits<double>::infinity(); ///< norm when the iteration last began again
};

} // namespace rafter::solvers
