// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/gmres.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include <rafter/base/error.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/gmres_steps.hpp>
#include <rafter/solve/hessenberg.hpp>

namespace rafter::solvers {
namespace {

class Gmres {
public:
  Gmres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
        const GmresParameters& parameters, ResidualRange& range)
      : A_(A), b_(b), x_(x), range_(range), ops_(A), progress_(parameters.control, A.num_unknowns(), A.communicator()),
        parameters_(parameters), r_(A.device(), b.size()) {
    if (parameters.restart < 1)
      throw base::InputError(fmt::format("solver: restart = {} is not a positive number", parameters.restart));
    if (M.is_variable() && parameters.side == Side::left)
      throw base::InputError("solver: side = \"left\" of gmres needs a preconditioner that is the same at each "
                             "application, and this one changes; accepted: side = \"right\"");
    // An image under M of a sum is another one than the sum of rounded images, which flexible steps keep.
    const bool is_flexible = M.is_variable() || (M.is_single() && parameters.side == Side::right);
    steps_ = is_flexible                      ? make_flexible_steps(A, M, ops_)
             : parameters.side == Side::right ? make_right_steps(A, M, ops_)
                                              : make_left_steps(A, M, ops_);
  }

  Result run() {
    double norm = 0;
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, norm, &range_)) return std::move(*end);
    if (parameters_.control.norm != Norm::residual)
      throw base::InputError(
          "solver: gmres judges the 2-norm of the residual (side = \"right\") or of the "
          "preconditioned residual (side = \"left\"); norm = \"preconditioned\" is for cg and minres");
    if (parameters_.control.iteration_limit() == 0) return progress_.not_converged();
    if (parameters_.side == Side::left) {
      const double norm_2 = norm;
      norm = precondition_residual();
      if (!std::isfinite(norm) || norm == 0)
        return progress_.failed(Failure::breakdown, "the preconditioner makes the residual zero or not finite");
      progress_.start(norm, norm, norm_2);
    }
    for (;;)
      if (auto end = cycle(norm)) return std::move(*end);
  }

private:
  /// Runs one restart cycle from the residual r_ of norm `norm`, and replaces both by those of the new x.
  std::optional<Result> cycle(double& norm) {
    Hessenberg hessenberg(norm);
    start_basis(norm);
    bool is_invariant = false, is_finite = true;
    for (int j = 0; j < parameters_.restart && !is_invariant; ++j) {
      is_finite = expand(hessenberg, is_invariant);
      if (!is_finite) break;
      const bool is_last = is_invariant || j + 1 == parameters_.restart || hessenberg.residual() <= progress_.target();
      if (is_last) break;
      progress_.record(hessenberg.residual());
      if (is_ending()) {
        update(hessenberg);
        return conclude();
      }
    }
    if (!is_finite) return progress_.failed(Failure::non_finite, "the operator or the preconditioner gives NaN or Inf");
    update(hessenberg);
    const double before = norm;
    const bool is_reached = hessenberg.residual() <= progress_.target();
    double r_norm = 0;
    norm = residual_norm(r_norm);
    progress_.update_reference(x_);
    progress_.record(norm);
    return end_of_cycle(before, norm, r_norm, is_invariant, is_reached);
  }

  bool is_ending() const { return progress_.is_ending() || progress_.is_plateau(); }

  /// Ends a solve within a cycle, with b - A x in place of the residual that the cycle updates.
  std::optional<Result> conclude() {
    double r_norm = 0;
    const double norm = residual_norm(r_norm);
    progress_.update_reference(x_);
    progress_.correct(norm);
    if (norm <= progress_.target()) return progress_.converged();
    return check();
  }

  std::optional<Result> check() {
    auto end = progress_.check();
    return end ? std::move(end) : progress_.check_plateau();
  }

  /// Decides whether a solve ends with a cycle. `norm` is that of the residual that is judged, `r_norm` the 2-norm of b
  /// - A x. `is_reached` says that the residual that the cycle updates has reached the target.
  std::optional<Result> end_of_cycle(double before, double norm, double r_norm, bool is_invariant, bool is_reached) {
    if (norm <= progress_.target()) return progress_.converged();
    auto end = check();
    if (end && end->failure == Failure::diverged) end->message += divergence_hint();
    if (end && end->status == Status::failed && end->failure != Failure::stagnated) return end;
    const bool is_stuck = norm > (1 - 1e-8) * before;
    if ((is_stuck || (is_reached && norm > 0.5 * before)) && is_rounding_level(r_norm))
      return RoundingLevel::converged(norm, progress_);
    if (is_invariant && norm > 0.5 * before)
      return progress_.failed(
          Failure::breakdown,
          fmt::format("the Krylov space cannot grow and leaves a relative residual: the operator is "
                      "singular{}",
                      singular_advice));
    if (norm >= before || (is_stuck && progress_.may_give_up()))
      return progress_.failed(
          Failure::stagnated,
          fmt::format("a whole cycle of {} iterations did not reduce the residual; a larger restart or a "
                      "better preconditioner may help{}",
                      parameters_.restart, null_space_hint(A_, ops_, r_)));
    if (end && end->failure == Failure::stagnated) end->message += null_space_hint(A_, ops_, r_);
    return end;
  }

  /// Looks for a null vector in the residual and in x: where the first directions have no image but rounding errors, x
  /// becomes a large multiple of one.
  std::string divergence_hint() const {
    const auto hint = null_space_hint(A_, ops_, r_);
    return hint.empty() ? null_space_hint(A_, ops_, x_) : hint;
  }

  void start_basis(double norm) {
    if (basis_.empty()) basis_.emplace_back(A_.device(), b_.size());
    ops_.copy(r_, basis_[0]);
    ops_.scale(1 / norm, basis_[0]);
  }

  /// Applies the preconditioned operator to the last basis vector and makes the result orthogonal to the basis. Returns
  /// false when it is not finite.
  bool expand(Hessenberg& hessenberg, bool& is_invariant) {
    const auto k = static_cast<std::size_t>(hessenberg.size()) + 1;
    if (basis_.size() == k) basis_.emplace_back(A_.device(), b_.size());
    Vector& w = basis_[k];
    steps_->apply(k - 1, basis_[k - 1], w);
    const double norm_before = ops_.norm(w);
    if (!std::isfinite(norm_before)) return false;
    const std::span<const Vector> basis = std::span(basis_).first(k);
    std::vector<double> column(k + 1), again(k);
    ops_.multi_dot(basis, w, std::span(column).first(k));
    ops_.multi_axpy(-1, std::span(column).first(k), basis, w);
    // The second pass makes the basis orthogonal to machine precision (Giraud et al. 2005,
    // doi:10.1007/s00211-005-0615-4).
    ops_.multi_dot(basis, w, again);
    ops_.multi_axpy(-1, again, basis, w);
    for (std::size_t i = 0; i < k; ++i) column[i] += again[i];
    const double norm = ops_.norm(w);
    is_invariant = norm <= 100 * std::numeric_limits<double>::epsilon() * norm_before;
    column[k] = is_invariant ? 0 : norm;
    if (!is_invariant) ops_.scale(1 / norm, w);
    hessenberg.append(column);
    return true;
  }

  void update(const Hessenberg& hessenberg) {
    const std::vector<double> y = hessenberg.solve();
    steps_->add_correction(y, basis_, r_, x_);
  }

  /// Returns the norm of the residual that is judged, which is put into r_; `r_norm` becomes that of b - A x.
  double residual_norm(double& r_norm) {
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    r_norm = ops_.norm(r_);
    return parameters_.side == Side::left ? precondition_residual() : r_norm;
  }

  /// The preconditioned residual serves as well to begin the estimate of the operator's norm.
  bool is_rounding_level(double r_norm) { return rounding_.holds(r_, r_norm, x_, b_); }

  double precondition_residual() {
    steps_->precondition_residual(r_);
    return ops_.norm(r_);
  }

  const op::LinearOperator& A_;
  const Vector& b_;
  Vector& x_;
  ResidualRange& range_;
  VectorOps ops_;
  Progress progress_;
  RoundingLevel rounding_{A_, ops_};
  GmresParameters parameters_;
  Vector r_;
  std::unique_ptr<GmresSteps> steps_;
  std::vector<Vector> basis_; ///< grows as needed, so that memory follows the iterations made
};

} // namespace

Result gmres(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const GmresParameters& parameters) {
  return solve_in_range(
      A, b, x, parameters.control,
      [&](const Vector& right, Vector& solution, const IterationControl& control, ResidualRange& range) {
        auto own = parameters;
        own.control = control;
        return Gmres(A, right, solution, M, own, range).run();
      });
}

} // namespace rafter::solvers
