// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/bicgstab.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/diagnosis.hpp>

namespace rafter::solvers {
namespace {

/// Iterates with residual r, shadow residual r_0, direction p and v = A M^-1 p. The residual between
/// the two halves of an iteration, s = r - alpha v, has no vector of its own: it is kept in r.
class StabilisedBiconjugateGradients {
public:
  StabilisedBiconjugateGradients(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                                 const IterationControl& control, ResidualRange& range)
      : A_(A), b_(b), x_(x), M_(M), range_(range), ops_(A), progress_(control, A.num_unknowns(), A.communicator()),
        rounding_(A, ops_), confirmation_(A, b, x, ops_, progress_, rounding_), r_(A.device(), b.size()),
        shadow_(A.device(), b.size()), p_(A.device(), b.size()), v_(A.device(), b.size()), t_(A.device(), b.size()),
        z_(A.device(), b.size()) {
    if (control.norm != Norm::residual)
      throw base::InputError("solver: bicgstab judges the 2-norm of the residual; norm = \"preconditioned\" is for cg "
                             "and minres");
  }

  Result run() {
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, norm_, &range_)) return std::move(*end);
    if (progress_.control().iteration_limit() == 0) return progress_.not_converged();
    start();
    for (;;)
      if (auto end = iterate()) return std::move(*end);
  }

private:
  /// Products of vectors that are smaller than this beside the vectors are rounding errors.
  static constexpr double rounding = 1e-14;

  /// Begins with the residual in r_ as shadow residual and direction.
  void start() {
    ops_.copy(r_, shadow_);
    ops_.copy(r_, p_);
    rho_ = norm_ * norm_;
    shadow_norm_ = norm_;
    is_new_ = true;
  }

  std::optional<Result> iterate() {
    if (auto end = half_step()) return end;
    if (is_broken_down_) return begin_again();
    if (norm_ <= progress_.target()) return confirm();
    if (auto end = stabilise()) return end;
    if (norm_ <= progress_.target()) return confirm();
    progress_.record(norm_);
    if (auto end = check()) return end;
    if (is_broken_down_)
      start();
    else
      redirect();
    return std::nullopt;
  }

  /// Makes the step of biconjugate gradients, x += alpha M^-1 p and r -= alpha v.
  std::optional<Result> half_step() {
    is_broken_down_ = false;
    M_.apply(p_, z_);
    A_.apply(z_, v_);
    const double product = ops_.dot(shadow_, v_), size = shadow_norm_ * ops_.norm(v_);
    if (!std::isfinite(product) || !std::isfinite(size)) return not_finite();
    is_broken_down_ = std::fabs(product) <= rounding * size;
    if (is_broken_down_) return std::nullopt;
    alpha_ = rho_ / product;
    ops_.axpy(alpha_, z_, x_);
    ops_.axpy(-alpha_, v_, r_);
    norm_ = ops_.norm(r_);
    return std::nullopt;
  }

  /// Makes the step x += omega M^-1 r and r -= omega A M^-1 r that makes r least.
  std::optional<Result> stabilise() {
    M_.apply(r_, z_);
    A_.apply(z_, t_);
    const double tt = ops_.dot(t_, t_), tr = ops_.dot(t_, r_);
    if (!std::isfinite(tt) || !std::isfinite(tr)) return not_finite();
    is_broken_down_ = std::fabs(tr) <= rounding * std::sqrt(tt) * norm_;
    if (is_broken_down_) return std::nullopt; // the next direction would divide by omega = 0
    omega_ = tr / tt;
    ops_.axpy(omega_, z_, x_);
    ops_.axpy(-omega_, t_, r_);
    norm_ = ops_.norm(r_);
    return std::nullopt;
  }

  /// Makes the next direction p = r + beta (p - omega v), or starts again where the residual has become orthogonal to
  /// the shadow residual.
  void redirect() {
    const double rho = ops_.dot(shadow_, r_);
    if (std::fabs(rho) <= rounding * shadow_norm_ * norm_) return start();
    const double beta = (rho / rho_) * (alpha_ / omega_);
    ops_.axpy(-omega_, v_, p_);
    ops_.aypx(beta, r_, p_);
    rho_ = rho;
    is_new_ = false;
  }

  /// Starts again from the present residual, unless the step of a new start has no length.
  std::optional<Result> begin_again() {
    if (is_new_)
      return progress_.failed(Failure::breakdown,
                              fmt::format("r.A M^-1 r vanishes for the residual r, so that the first step has no "
                                          "length: use method = \"gmres\" (\"direct\" for few unknowns){}",
                                          null_space_hint(A_, ops_, r_)));
    start();
    return std::nullopt;
  }

  Result not_finite() {
    return progress_.failed(Failure::non_finite, "the operator or the preconditioner gives NaN or Inf");
  }

  /// Computes b - A x after the recursive residual has reached the target, which shows whether the solve is done.
  std::optional<Result> confirm() {
    look_back();
    progress_.record(norm_);
    if (auto end = confirmation_.judge(r_, norm_, norm_)) return end;
    if (auto end = check()) return end;
    start();
    return std::nullopt;
  }

  /// Replaces the recursive residual by b - A x, and the reference norm by that of this x.
  void look_back() {
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    progress_.update_reference(x_);
    norm_ = ops_.norm(r_);
  }

  std::optional<Result> check() {
    if (progress_.is_ending() || progress_.is_plateau()) {
      look_back();
      progress_.correct(norm_);
      if (norm_ <= progress_.target()) return progress_.converged();
      if (rounding_.holds(r_, norm_, x_, b_)) return RoundingLevel::converged(norm_, progress_);
    }
    auto end = progress_.check();
    if (!end) end = progress_.check_plateau();
    if (end && (end->failure == Failure::stagnated || end->failure == Failure::diverged)) {
      const auto hint = null_space_hint(A_, ops_, r_);
      end->message += hint.empty() ? null_space_hint(A_, ops_, x_) : hint; // x grows along a null vector
    }
    return end;
  }

  const op::LinearOperator& A_;
  const Vector& b_;
  Vector& x_;
  const Preconditioner& M_;
  ResidualRange& range_;
  VectorOps ops_;
  Progress progress_;
  RoundingLevel rounding_;
  Confirmation confirmation_;
  Vector r_, shadow_, p_, v_, t_, z_;
  double norm_ = 0;                        ///< 2-norm of r
  double shadow_norm_ = 0;                 ///< 2-norm of the shadow residual
  double rho_ = 0, alpha_ = 0, omega_ = 0; ///< r_0.r and the lengths of both steps
  bool is_new_ = true;                     ///< no iteration was finished since the last start
  bool is_broken_down_ = false;            ///< a step of this iteration has no length
};

} // namespace

Result bicgstab(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                const IterationControl& control) {
  return solve_in_range(A, b, x, control,
                        [&](const Vector& right, Vector& solution, const IterationControl& own, ResidualRange& range) {
                          return StabilisedBiconjugateGradients(A, right, solution, M, own, range).run();
                        });
}

} // namespace rafter::solvers
