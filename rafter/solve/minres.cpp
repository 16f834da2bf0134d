// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/minres.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/diagnosis.hpp>

namespace rafter::solvers {
namespace {

/// The iteration of minres, with Lanczos vectors v (of residuals) and z = M^-1 v, directions w, and the residual r.
/// Vector operations of an iteration are three passes besides the products with A and M: z.Az, the next v with z.v
/// where M is diagonal, and w, x and r with r.r.
class MinimalResiduals {
public:
  MinimalResiduals(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                   const IterationControl& control, ResidualRange& range)
      : A_(A), b_(b), x_(x), M_(M), range_(range), ops_(A), progress_(control, A.num_unknowns(), A.communicator()),
        rounding_(A, ops_), confirmation_(A, b, x, ops_, progress_, rounding_), r_(A.device(), b.size()),
        v_(A.device(), b.size()), v_before_(A.device(), b.size()), z_(A.device(), b.size()),
        z_next_(A.device(), b.size()), w_(A.device(), b.size()), w_before_(A.device(), b.size()) {
    if (M.is_variable())
      throw base::InputError(
          "solver: minres needs a preconditioner that is the same at each application, and this one "
          "changes; accepted: method = \"gmres\", or \"cg\" where the operator is positive definite");
  }

  Result run() {
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, norm_, &range_)) return std::move(*end);
    if (auto end = start()) return std::move(*end);
    if (is_preconditioned_norm()) progress_.start(eta_, eta_, norm_);
    if (progress_.control().iteration_limit() == 0) return progress_.not_converged();
    const Norms first{.residual = norm_, .preconditioned = eta_};
    for (;;) {
      last_norms_.reset(); // x will be another one
      if (auto end = iterate()) {
        end->first_norms = first;
        end->last_norms = last_norms_;
        return std::move(*end);
      }
    }
  }

private:
  bool is_preconditioned_norm() const { return progress_.control().norm == Norm::preconditioned; }

  /// Starts the Krylov space of the residual in r_.
  std::optional<Result> start() {
    ops_.copy(r_, v_);
    for (auto* vector : {&v_before_, &w_, &w_before_}) ops_.fill(0, *vector);
    M_.apply(v_, z_);
    const double product = ops_.dot(z_, v_);
    if (auto end = refuse_product(product, norm_)) return end;
    gamma_ = eta_ = std::sqrt(product);
    gamma_before_ = c_ = c_before_ = 1;
    s_ = s_before_ = 0;
    return std::nullopt;
  }

  std::optional<Result> refuse_product(double product, double size) {
    if (!std::isfinite(product)) return progress_.failed(Failure::non_finite, "the preconditioner gives NaN or Inf");
    if (product < 0 || (product == 0 && size > 0))
      return progress_.failed(Failure::indefinite_preconditioner,
                              fmt::format("r.z = {:.2e} for a vector r and z = M^-1 r; minres needs a positive "
                                          "definite preconditioner (gmres does not)",
                                          product));
    return std::nullopt;
  }

  std::optional<Result> iterate() {
    ops_.scale(1 / gamma_, z_);
    A_.apply(z_, z_next_); // holds A z until M^-1 v takes its place
    const double delta = ops_.dot(z_next_, z_);
    if (!std::isfinite(delta)) return progress_.failed(Failure::non_finite, "the operator gives NaN or Inf");
    double product = next_lanczos_vector(delta);
    size_ = std::max(size_, std::fabs(delta));
    if (std::fabs(product) <= breakdown_level() * breakdown_level()) product = 0; // the Krylov space cannot grow
    if (auto end = refuse_product(product, 0)) return end;
    const double gamma_next = std::sqrt(product);
    size_ = std::max(size_, gamma_next);
    if (is_null_residual(delta, gamma_next)) return singular();
    rotate(delta, gamma_next);
    if (auto end = advance(gamma_next)) return end;
    if (std::exchange(is_restarted_, false)) return std::nullopt;
    std::swap(z_, z_next_);
    gamma_before_ = std::exchange(gamma_, gamma_next);
    return std::nullopt;
  }

  /// Computes v_next = A z - (delta / gamma) v - (gamma / gamma_before) v_before in the place of v_before, and z_next =
  /// M^-1 v_next; returns their product.
  double next_lanczos_vector(double delta) {
    const auto diagonal = M_.diagonal();
    const double a = delta / gamma_, b = gamma_ / gamma_before_;
    double product = 0;
    if (!diagonal)
      ops_.run("lanczos", {a, b}, {z_next_, v_, v_before_});
    else
      product = *diagonal == nullptr ? ops_.run("lanczos_identity", {a, b}, {z_next_, v_, v_before_})[0]
                                     : ops_.run("lanczos_scaled", {a, b}, {z_next_, v_, v_before_, **diagonal})[0];
    std::swap(v_, v_before_);
    if (diagonal) return product;
    M_.apply(v_, z_next_);
    return ops_.dot(z_next_, v_);
  }

  /// Entries of the Lanczos matrix below this are rounding errors.
  double breakdown_level() const { return 100 * std::numeric_limits<double>::epsilon() * size_; }

  void rotate(double delta, double gamma_next) {
    const double a0 = c_ * delta - c_before_ * s_ * gamma_;
    a_[1] = std::hypot(a0, gamma_next);
    a_[2] = s_ * delta + c_before_ * c_ * gamma_;
    a_[3] = s_before_ * gamma_;
    c_before_ = std::exchange(c_, a_[1] == 0 ? 0 : a0 / a_[1]);
    s_before_ = std::exchange(s_, a_[1] == 0 ? 0 : gamma_next / a_[1]);
  }

  /// Says whether |A r| of the residual r before this step (Choi, Paige and Saunders, SIAM J. Sci. Comput. 33 (2011)
  /// 1810-1836, doi:10.1137/100787921, section 3) is rounding beside |A| |r|, which means that the system has no
  /// solution.
  bool is_null_residual(double delta, double gamma_next) const {
    constexpr double rounding = 1e-12;
    return std::hypot(c_ * delta - c_before_ * s_ * gamma_, c_ * gamma_next) <= rounding * size_;
  }
  Result singular() {
    return progress_.failed(Failure::singular_operator,
                            fmt::format("the residual, of relative size {:.2e}, is in the null space of the operator, "
                                        "and the system without a solution{}",
                                        norm_ / progress_.reference(), singular_advice));
  }

  std::optional<Result> advance(double gamma_next) {
    const double step = c_ * eta_, eta = -s_ * eta_;
    const double square = update(step, eta, gamma_next);
    eta_ = eta;
    norm_ = is_preconditioned_norm() ? std::fabs(eta_) : std::sqrt(square);
    if (norm_ <= progress_.target() || gamma_next == 0) return confirm();
    progress_.record(norm_);
    return check();
  }

  /// Computes w = (z - a3 w_before - a2 w) / a1, x += step w and r = s^2 r + c eta / gamma_next v; returns r.r.
  double update(double step, double eta, double gamma_next) {
    const double kept = s_ * s_, added = gamma_next == 0 ? 0 : c_ * eta / gamma_next;
    const double square =
        ops_.run("minres_update", {a_[1], a_[2], a_[3], step, kept, added}, {z_, v_, w_, w_before_, x_, r_})[0];
    std::swap(w_, w_before_);
    return square;
  }

  /// Computes b - A x after the recursive residual has reached its threshold, which shows whether the solve is done.
  std::optional<Result> confirm() {
    double r_norm = 0;
    if (auto end = look_back(r_norm)) return end;
    progress_.record(norm_);
    if (auto end = confirmation_.judge(r_, r_norm, norm_)) return end;
    if (auto end = check()) return end;
    is_restarted_ = true;
    return start(); // a new Krylov space begins with the true residual
  }

  /// Replaces the recursive residual by b - A x, of 2-norm r_norm, and the reference norm by that of this x.
  std::optional<Result> look_back(double& r_norm) {
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    progress_.update_reference(x_);
    norm_ = r_norm = ops_.norm(r_);
    last_norms_ = {.residual = r_norm, .preconditioned = std::nullopt};
    if (!is_preconditioned_norm() || r_norm == 0) return std::nullopt;
    M_.apply(r_, z_next_);
    const double product = ops_.dot(r_, z_next_);
    if (auto end = refuse_product(product, r_norm)) return end;
    norm_ = std::sqrt(product);
    last_norms_->preconditioned = norm_;
    return std::nullopt;
  }

  std::optional<Result> check() {
    if (progress_.is_ending() || progress_.is_plateau()) {
      double r_norm = 0;
      if (auto end = look_back(r_norm)) return end;
      progress_.correct(norm_);
      if (norm_ <= progress_.target()) return progress_.converged();
      if (rounding_.holds(r_, r_norm, x_, b_)) return RoundingLevel::converged(norm_, progress_);
    }
    auto end = progress_.check();
    if (!end) end = progress_.check_plateau();
    if (end && end->failure == Failure::stagnated) end->message += null_space_hint(A_, ops_, r_);
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
  Vector r_, v_, v_before_, z_, z_next_, w_, w_before_;
  double norm_ = 0;                                    ///< norm of the residual that is judged
  std::optional<Norms> last_norms_;                    ///< norms of b - A x of the present x
  double gamma_ = 1, gamma_before_ = 1;                ///< (v.z)^1/2 of the last two Lanczos vectors
  double c_ = 1, c_before_ = 1, s_ = 0, s_before_ = 0; ///< cosines and sines of the last two rotations
  double eta_ = 0;                                     ///< (r, M^-1 r)^1/2 with a sign
  std::array<double, 4> a_{};                          ///< the new column of R; entry 0 is not used
  double size_ = 0;                                    ///< largest entry of the Lanczos matrix so far
  bool is_restarted_ = false;                          ///< a new Krylov space was started in this iteration
};

} // namespace

Result minres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control) {
  return solve_in_range(A, b, x, control,
                        [&](const Vector& right, Vector& solution, const IterationControl& own, ResidualRange& range) {
                          return MinimalResiduals(A, right, solution, M, own, range).run();
                        });
}

} // namespace rafter::solvers
