// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include <rafter/solve/cg_steps.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/progress.hpp>

namespace rafter::solvers {
namespace {

class ConjugateGradients {
public:
  ConjugateGradients(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                     const CgParameters& parameters)
      : A_(A), b_(b), x_(x), M_(M), ops_(A.device()), progress_(parameters.control, A.size()),
        max_iterations_(parameters.control.max_iterations), r_(A.device(), b.size()), p_(A.device(), b.size()) {
    const CgVectors vectors{A_, M_, ops_, x_, r_, p_};
    steps_ = parameters.is_fused ? make_fused_steps(vectors) : make_plain_steps(vectors);
  }

  Result run() {
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, residual_norm_)) return std::move(*end);
    if (max_iterations_ == 0) return progress_.not_converged();
    std::optional<Result> end;
    while (!end) end = iterate();
    steps_->settle(); // whatever ended it, x is the last iterate
    return std::move(*end);
  }

private:
  std::optional<Result> iterate() {
    if (auto end = new_direction()) return end;
    if (auto end = step()) return end;
    const bool is_at_limit = residual_norm_ <= progress_.target() && !confirm();
    progress_.record(residual_norm_);
    if (residual_norm_ <= progress_.target()) return progress_.converged();
    if (is_at_limit)
      return progress_.failed(Failure::stagnated,
                              fmt::format("the residual b - A x stays at {:.2e}: the tolerance is below "
                                          "what double precision can reach here",
                                          residual_norm_));
    auto end = progress_.check();
    if (end) steps_->settle();
    if (end && (end->failure == Failure::stagnated || end->failure == Failure::diverged)) {
      const auto hint = null_space_hint(A_, ops_, r_);
      end->message += hint.empty() ? null_space_hint(A_, ops_, p_) : hint;
    }
    return end;
  }

  /// beta of the direction p = z + beta p with z = M^-1 r.
  std::optional<Result> new_direction() {
    const double rz = steps_->preconditioned_product();
    if (!std::isfinite(rz)) return progress_.failed(Failure::non_finite, "the preconditioner gives NaN or Inf");
    if (rz <= 0)
      return progress_.failed(Failure::indefinite_preconditioner,
                              fmt::format("r.z = {:.2e} for a residual r and z = M^-1 r; cg needs a positive definite "
                                          "preconditioner (gmres does not)",
                                          rz));
    beta_ = rz_ == 0 ? 0 : rz / rz_;
    rz_ = rz;
    return std::nullopt;
  }

  /// x and r along p, to where the energy is least.
  std::optional<Result> step() {
    const double pq = steps_->new_direction(beta_);
    if (!std::isfinite(pq)) return progress_.failed(Failure::non_finite, "the operator gives NaN or Inf");
    if (pq <= 0) return not_positive(pq);
    residual_norm_ = std::sqrt(steps_->advance(rz_ / pq, progress_.target() * progress_.target()));
    return std::nullopt;
  }

  Result not_positive(double pq) {
    if (is_null_vector(A_, ops_, p_))
      return progress_.failed(
          Failure::singular_operator,
          fmt::format("p.Ap = {:.2e} for a search direction p: the operator has a null space{}", pq, singular_advice));
    return progress_.failed(
        Failure::indefinite_operator,
        fmt::format("p.Ap = {:.2e} <= 0 for a search direction p; cg needs a symmetric positive definite "
                    "operator: check signs in the form, or use method = \"gmres\"",
                    pq));
  }

  /// The recursive residual reached the tolerance: puts b - A x in its place. False when that is no lower than it was
  /// the last time, so that going on is useless.
  bool confirm() {
    steps_->settle();
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    steps_->residual_replaced();
    residual_norm_ = ops_.norm(r_);
    const bool is_progress = residual_norm_ < 0.5 * last_confirmed_;
    last_confirmed_ = residual_norm_;
    return is_progress;
  }

  const op::LinearOperator& A_;
  const Vector& b_;
  Vector& x_;
  const Preconditioner& M_;
  VectorOps ops_;
  Progress progress_;
  int max_iterations_;
  Vector r_, p_;
  std::unique_ptr<CgSteps> steps_;
  double rz_ = 0, beta_ = 0, residual_norm_ = 0;
  double last_confirmed_ = std::numeric_limits<double>::infinity();
};

} // namespace

Result cg(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
          const CgParameters& parameters) {
  return ConjugateGradients(A, b, x, M, parameters).run();
}

VectorBytes cg_vector_bytes(const Preconditioner& M, bool is_fused) {
  constexpr double word = 8;
  const auto diagonal = M.diagonal();
  if (!diagonal) return is_fused ? VectorBytes{7 * word, 4 * word} : VectorBytes{11 * word, 4 * word};
  const double entries = diagonal->empty() ? 0 : 1;
  return is_fused ? VectorBytes{(4 + entries) * word, 4 * word} : VectorBytes{(12 + entries) * word, 5 * word};
}

machine::Counts cg_iteration_counts(const machine::Counts& product, std::int64_t size, const Preconditioner& M,
                                    bool is_fused) {
  const auto unknowns = static_cast<double>(size);
  const auto vectors = cg_vector_bytes(M, is_fused);
  const auto diagonal = M.diagonal();
  const double scaling = diagonal && !diagonal->empty() ? 1 : 0;
  machine::Counts counts = product;
  counts.global_bytes_read += (vectors.read - 8) * unknowns; // of p and q, which the product counts
  counts.global_bytes_written += (vectors.written - 8) * unknowns;
  counts.effective_flops += (12 + scaling) * unknowns; // three products, three updates
  counts.flops += (12 + scaling) * unknowns;
  if (is_fused && diagonal) counts.flops += (6 + scaling) * unknowns; // products that predict, M^-1 q
  return counts;
}

} // namespace rafter::solvers
