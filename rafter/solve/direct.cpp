// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/direct.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/trust.hpp>

namespace rafter::solvers {
namespace {

class DirectSolve {
public:
  DirectSolve(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control)
      : A_(A), b_(b), x_(x), M_(M), ops_(A), progress_(control, A.num_unknowns()), rounding_(A, ops_),
        r_(A.device(), b.size()), z_(A.device(), b.size()) {}

  Result run() {
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, norm_)) return std::move(*end);
    for (;;) {
      const double before = norm_;
      correct();
      find_residual();
      progress_.record(norm_);
      if (!std::isfinite(norm_) && ops_.first_non_finite(x_) >= 0)
        return progress_.failed(Failure::non_finite, "the solution exceeds the largest double, 1.8e308");
      if (norm_ <= progress_.target()) return confirm();
      if (auto end = progress_.check()) return std::move(*end);
      if (norm_ > 0.5 * before) return examine();
    }
  }

private:
  /// Adds M^-1 r to x.
  void correct() {
    M_.apply(r_, z_);
    ops_.axpy(1, z_, x_);
  }

  void find_residual() {
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    norm_ = ops_.norm(r_);
    progress_.update_reference(x_);
  }

  double size_of_correction() const { return relative_size(A_, z_, x_, progress_.control().field_offsets, scales_); }

  /// Decides whether a solution with a small residual is good, too. Residuals say little where the matrix is ill
  /// conditioned; the correction that is left is the error that the factors have made. A caller that asks for a rough
  /// residual does not want to know.
  Result confirm() {
    constexpr double rough = 1e-6, harmless = 1e-11;
    if (progress_.control().rtol > rough) return progress_.converged();
    M_.apply(r_, z_);
    return size_of_correction() <= harmless ? progress_.converged() : examine();
  }

  /// Examines a system that is ill conditioned, or singular.
  Result examine() {
    const auto matrix = A_.sparse_matrix();
    SolvedSystem system{.A = A_,
                        .b = b_,
                        .x = x_,
                        .field_offsets = progress_.control().field_offsets,
                        .inverse =
                            [this](const Vector& w, Vector& d) {
                              M_.apply(w, d);
                              return true;
                            },
                        .matrix = &matrix};
    scales_ = scales_of_vanishing_fields(system);
    system.scales = scales_;
    if (auto end = improve()) return std::move(*end);
    if (!is_regular(matrix)) return refuse("corrections of the solution do not contract");
    const double error = std::max(estimate_error(system), last_size_);
    if (!(error < useless_error) || is_singular_to_rounding(system))
      return refuse("roundings of its entries change the solution as a whole");
    const bool is_met = norm_ <= progress_.target();
    if (!is_met && !rounding_.holds(r_, norm_, x_, b_))
      return progress_.failed(Failure::stagnated, describe_stuck(norm_));
    auto result = is_met ? progress_.converged() : RoundingLevel::converged(norm_, progress_);
    if (!is_met)
      result.warning += "; " + describe_trust(error);
    else if (error > least_reported_error)
      result.warning = describe_trust(error);
    result.relative_error = error;
    for (std::size_t field = 0; field < scales_.size(); ++field)
      if (scales_[field] > 0)
        result.warning +=
            fmt::format("{}the values of field {} of {} are rounding errors: it vanishes, or is too small "
                        "beside what its equations hold",
                        result.warning.empty() ? "" : "; ", field + 1, scales_.size());
    return result;
  }

  /// Adds corrections of residuals of the operator itself as long as they contract. Its products are often more precise
  /// than those of a matrix, whose entries are rounded: by terms along each axis, rigid motions have images of zero.
  std::optional<Result> improve() {
    constexpr double negligible = 1e-12;
    for (double last = 1;; last = last_size_) {
      M_.apply(r_, z_);
      last_size_ = size_of_correction();
      if (!(last_size_ <= 0.5 * last) || last_size_ <= negligible) return std::nullopt;
      ops_.axpy(1, z_, x_);
      find_residual();
      progress_.record(norm_);
      if (auto end = progress_.check()) return end;
    }
  }

  /// Says whether corrections of a copy of x by residuals of the matrix in twice the precision contract until they are
  /// small, which the factors of a matrix that is not regular do not let them.
  bool is_regular(const op::SparseMatrix& matrix) {
    constexpr double small = 1e-8;
    Vector y(A_.device(), x_.size()), r(A_.device(), x_.size());
    ops_.copy(x_, y);
    for (double last = 1, size = 0;; last = size) {
      subtract_product(matrix, y.host_read(), b_.host_read(), r.host_overwrite());
      M_.apply(r, z_);
      size = size_of_correction();
      if (!(size <= 0.5 * last)) return false;
      if (size <= small) return true;
      ops_.axpy(1, z_, y);
    }
  }

  Result refuse(const std::string& found) {
    return progress_.failed(Failure::stagnated,
                            fmt::format("the matrix is so close to a singular one that double precision does not "
                                        "distinguish them: {}{}",
                                        found, singular_advice));
  }

  const op::LinearOperator& A_;
  const Vector& b_;
  Vector& x_;
  const Preconditioner& M_;
  VectorOps ops_;
  Progress progress_;
  RoundingLevel rounding_;
  Vector r_, z_;
  std::vector<double> scales_; ///< scales of fields that vanish
  double norm_ = 0;            ///< norm of b - A x
  double last_size_ = 0;       ///< relative size of the last correction by a residual of the operator
};

} // namespace

Result direct(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control) {
  if (M.factors() == nullptr)
    throw base::InputError("solver: a direct solve needs the factors of the matrix in place of a preconditioner");
  return DirectSolve(A, b, x, M, control).run();
}

} // namespace rafter::solvers
