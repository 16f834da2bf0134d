// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>

#include <rafter/solve/cg_steps.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/energy_progress.hpp>
#include <rafter/solve/flexible_cg.hpp>
#include <rafter/solve/progress.hpp>
#include <rafter/solve/queued_steps.hpp>

namespace rafter::solvers {
namespace {

class ConjugateGradients {
public:
  ConjugateGradients(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                     const CgParameters& parameters, ResidualRange& range)
      : A_(A), b_(b), x_(x), range_(range), is_flexible_(M.is_variable()),
        has_image_(!M.is_variable() && !M.diagonal()), ops_(A),
        progress_(parameters.control, A.num_unknowns(), A.communicator()),
        energy_(parameters.control.rtol, parameters.control.stagnation_window), rounding_(A, ops_),
        r_(A.device(), b.size()), p_(A.device(), b.size()) {
    const CgVectors vectors{A_, M, ops_, x_, r_, p_};
    if (parameters.is_fused && can_be_queued(vectors)) {
      auto queued = std::make_unique<QueuedSteps>(vectors);
      queued_ = queued.get();
      steps_ = std::move(queued);
    } else if (parameters.is_fused)
      steps_ = make_fused_steps(vectors);
    else
      steps_ = std::make_unique<PlainSteps>(vectors);
  }

  Result run() {
    if (auto end = prepare(A_, b_, x_, ops_, progress_, r_, norm_, &range_)) return std::move(*end);
    if (is_preconditioned_norm()) {
      if (auto end = find_product()) return std::move(*end);
      progress_.start(std::sqrt(rz_), std::sqrt(rz_), norm_);
    }
    if (progress_.control().iteration_limit() == 0) return progress_.not_converged();
    std::optional<Result> end;
    while (!end) end = iterate();
    steps_->settle(); // whatever ended the iteration, x is the last iterate
    end->first_norms = first_norms_;
    end->last_norms = last_norms_;
    return std::move(*end);
  }

private:
  std::optional<Result> iterate() {
    if (auto end = find_product()) return end;
    last_norms_.reset(); // x will be another one
    if (queued_ != nullptr) return iterate_queued();
    if (auto end = step()) return end;
    return judge();
  }

  /// Makes several iterations on the device, and then takes each as if it had been made just now. Failures that only
  /// the history shows are found when x is that of the last of them.
  std::optional<Result> iterate_queued() {
    const double least = threshold() * threshold();
    const auto found = queued_->run(num_queued(), {.rz = rz_,
                                                   .beta = next_beta(),
                                                   .least_rr = is_preconditioned_norm() ? -1 : least,
                                                   .least_rz = is_preconditioned_norm() ? least : -1});
    const int num_looks = num_looks_;
    for (const auto& iteration : found) {
      if (auto end = find_product()) return end;
      if (auto end = refuse_energy(iteration.pq)) return end;
      norm_ = std::sqrt(iteration.rr);
      note_step(iteration.alpha, iteration.beta);
      next_rz_ = iteration.rz;
      if (auto end = judge()) return end;
      if (num_looks_ != num_looks) return std::nullopt; // b - A x has taken the place of the residual
    }
    return std::nullopt;
  }

  /// Number of iterations that are queued together: as many as seem to be left, since those behind the last one are in
  /// vain, and one at a time where somebody looks at each.
  int num_queued() const {
    const int done = progress_.iterations(), left = progress_.control().iteration_limit() - done;
    if (progress_.control().monitor) return 1;
    constexpr int at_first = 4;
    if (done == 0) return std::min(left, at_first);
    const double reduction = std::log(progress_.first() / norm_) / done;
    const double missing = reduction > 0 ? std::log(norm_ / threshold()) / reduction : QueuedSteps::most_iterations;
    return std::min(left, static_cast<int>(std::clamp(std::ceil(missing), 1.0, 1.0 * QueuedSteps::most_iterations)));
  }

  /// Decides what follows a step.
  std::optional<Result> judge() {
    if (is_preconditioned_norm()) {
      if (auto end = find_product()) return end;
      norm_ = std::sqrt(rz_);
    }
    if (norm_ > threshold() || std::isnan(norm_)) {
      progress_.record(norm_);
      return check();
    }
    return confirm();
  }

  /// Norm of the recursive residual at which b - A x is computed: the target, or the least norm of b - A x that the
  /// precision allows where that is larger.
  double threshold() const { return std::max(progress_.target(), least_attainable()); }
  /// The least residual that can be attained; 0: it is not known. Rounding errors cancel in part, so that it is a tenth
  /// to a hundredth of their bound.
  double least_attainable() const { return is_preconditioned_norm() ? 0 : rounding_.least() / 64; }
  bool is_preconditioned_norm() const { return progress_.control().norm == Norm::preconditioned; }

  /// Moves x along p = z + beta p to where the energy is least, and r with it.
  std::optional<Result> step() {
    const double beta = next_beta();
    const double pq = steps_->new_direction(beta);
    if (auto end = refuse_energy(pq)) return end;
    const double alpha = rz_ / pq;
    // The 2-norm plays no part and need not be exact if the preconditioned norm is judged.
    const double exact_below = is_preconditioned_norm() ? 0 : threshold() * threshold();
    norm_ = std::sqrt(steps_->advance(alpha, exact_below));
    note_step(alpha, beta);
    return std::nullopt;
  }

  std::optional<Result> refuse_energy(double pq) {
    if (!std::isfinite(pq)) return progress_.failed(Failure::non_finite, "the operator gives NaN or Inf");
    if (pq <= 0) return not_positive(pq);
    return std::nullopt;
  }

  void note_step(double alpha, double beta) {
    energy_.record(alpha, beta, rz_);
    previous_rz_ = rz_;
    previous_alpha_ = alpha;
    is_product_known_ = false;
  }

  /// Returns beta of the new direction p = z + beta p, which is z alone in the beginning and after a restart.
  double next_beta() const {
    if (previous_rz_ == 0) return 0;
    return is_flexible_ ? flexible_beta(*steps_, previous_alpha_, previous_rz_) : rz_ / previous_rz_;
  }

  /// Finds r.z of the present residual, with z = M^-1 r.
  std::optional<Result> find_product() {
    if (is_product_known_) return std::nullopt;
    rz_ = next_rz_ ? *std::exchange(next_rz_, std::nullopt) : steps_->preconditioned_product();
    is_product_known_ = true;
    if (!first_norms_) first_norms_ = {.residual = norm_, .preconditioned = std::sqrt(std::abs(rz_))};
    if (!std::isfinite(rz_)) return progress_.failed(Failure::non_finite, "the preconditioner gives NaN or Inf");
    if (rz_ < 0 || (rz_ == 0 && norm_ > 0))
      return progress_.failed(Failure::indefinite_preconditioner,
                              fmt::format("r.z = {:.2e} for a residual r and z = M^-1 r; cg needs a positive definite "
                                          "preconditioner (gmres does not)",
                                          rz_));
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
                    "operator: check signs in the form, or use method = \"minres\" or \"gmres\" (\"direct\" for "
                    "few unknowns)",
                    pq));
  }

  /// Computes b - A x after the recursive residual has reached its threshold, which shows whether the solve is done.
  std::optional<Result> confirm() {
    const double reached = threshold();
    double r_norm = 0;
    if (auto end = look_back_at_end(r_norm)) return end;
    progress_.record(norm_);
    if (norm_ <= progress_.target()) return progress_.converged();
    const bool is_rounding = rounding_.holds(r_, r_norm, x_, b_);
    const bool is_stuck = norm_ > reached && norm_ > 0.5 * last_restart_;
    if (is_rounding && (is_stuck || norm_ <= least_attainable())) return RoundingLevel::converged(norm_, progress_);
    if (is_stuck) return progress_.failed(Failure::stagnated, describe_stuck(norm_));
    if (norm_ > reached) restart();
    return check();
  }

  /// Starts anew because b - A x has not followed the recursive residual: this makes the corrections that are still to
  /// be added small, and with them their rounding errors. If that does not help, the tolerance is beyond the operator's
  /// precision.
  void restart() {
    last_restart_ = norm_;
    previous_rz_ = 0;
  }

  /// Replaces the recursive residual by b - A x, of 2-norm r_norm, and the reference norm by that of this x.
  std::optional<Result> look_back(double& r_norm) {
    steps_->settle();
    A_.apply(x_, r_);
    ops_.subtract_from(b_, r_);
    residual_replaced();
    progress_.update_reference(x_);
    norm_ = r_norm = ops_.norm(r_);
    if (is_preconditioned_norm() && r_norm > 0) {
      if (auto end = find_product()) return end;
      norm_ = std::sqrt(rz_);
    }
    note_last(r_norm);
    return std::nullopt;
  }

  /// Does the same where the solve seems to have ended, without an application of M^-1 if it can. The recursive
  /// residual s and z = M^-1 s are known. With r = b - A x = s + d
  ///
  ///     (M^-1 r, r) = 2 (r, z) - (s, z) + (M^-1 d, d),
  ///
  /// and the last term is at most cond(M) |d|^2 / |s|^2 times (M^-1 s, s), which is left out where |d| is small: for
  /// condition numbers up to 1e8 this changes the norm by 0.5 % at most.
  std::optional<Result> look_back_at_end(double& r_norm) {
    if (!has_image_ || !is_preconditioned_norm() || progress_.control().reference) return look_back(r_norm);
    constexpr double small = 1e-5;
    steps_->settle();
    A_.apply(x_, p_);
    ops_.subtract_from(b_, p_);
    const double product = 2 * steps_->product_with_image(p_) - rz_;
    r_norm = ops_.norm(p_);
    ops_.axpy(-1, p_, r_);
    const bool is_close = ops_.norm(r_) <= small * r_norm && product > 0;
    std::swap(r_, p_);
    previous_rz_ = 0; // the direction is lost, and a next one begins anew
    residual_replaced();
    norm_ = r_norm;
    if (is_close) {
      norm_ = std::sqrt(product);
    } else if (r_norm > 0) {
      if (auto end = find_product()) return end;
      norm_ = std::sqrt(rz_);
    }
    note_last(r_norm);
    return std::nullopt;
  }

  /// Notes that b - A x has taken the place of the recursive residual.
  void residual_replaced() {
    steps_->residual_replaced();
    is_product_known_ = false;
    next_rz_.reset();
    ++num_looks_;
  }

  void note_last(double r_norm) {
    last_norms_ = {.residual = r_norm, .preconditioned = std::nullopt};
    if (is_preconditioned_norm()) last_norms_->preconditioned = norm_;
  }

  /// Finds failures that the norms, or their lack of progress, show.
  std::optional<Result> check() {
    const bool is_stagnant = energy_.is_stagnant() && progress_.may_give_up();
    const bool is_restarted = std::isfinite(last_restart_);
    if ((is_stagnant || progress_.is_ending()) && (is_restarted || progress_.control().reference)) {
      double r_norm = 0;
      if (auto end = look_back(r_norm)) return end;
      progress_.correct(norm_);
      if (norm_ <= progress_.target()) return progress_.converged();
      if (is_restarted && rounding_.holds(r_, r_norm, x_, b_)) return RoundingLevel::converged(norm_, progress_);
    }
    auto end = progress_.check();
    if (!end && is_stagnant) end = progress_.failed(Failure::stagnated, stagnation());
    if (end && (end->failure == Failure::stagnated || end->failure == Failure::diverged)) {
      steps_->settle();
      const auto hint = null_space_hint(A_, ops_, r_);
      end->message += hint.empty() ? null_space_hint(A_, ops_, p_) : hint;
    }
    return end;
  }

  std::string stagnation() const {
    const double relative = norm_ / progress_.reference();
    if (progress_.control().stagnation_window > 0)
      return fmt::format("the last {} iterations (stagnation_window) reduced the energy norm of the error by at least "
                         "half of what as many before did; the relative residual is {:.2e}",
                         energy_.window(), relative);
    return fmt::format("the last {} iterations reduced the energy norm of the error by at least half of what as many "
                       "before did, against all expectation for an operator of condition number {:.1e}; the relative "
                       "residual is {:.2e}",
                       energy_.window(), energy_.condition(), relative);
  }

  const op::LinearOperator& A_;
  const Vector& b_;
  Vector& x_;
  ResidualRange& range_;
  const bool is_flexible_; ///< M^-1 changes from one application to the next
  const bool has_image_;   ///< steps keep M^-1 r, and M^-1 is a symmetric operator
  VectorOps ops_;
  Progress progress_;
  EnergyProgress energy_;
  RoundingLevel rounding_;
  Vector r_, p_;
  std::unique_ptr<CgSteps> steps_;
  QueuedSteps* queued_ = nullptr; ///< steps_ where iterations are queued; else null
  int num_looks_ = 0;             ///< number of times that b - A x was computed
  std::optional<double>
      next_rz_; ///< r.z of the present residual where the device has found it and nobody has judged it
  double rz_ = 0, previous_rz_ = 0;               ///< r.z of the present residual and of the one before the last step
  double previous_alpha_ = 0;                     ///< length of the last step
  bool is_product_known_ = false;                 ///< rz_ is that of the present residual
  double norm_ = 0;                               ///< norm of the residual that is judged
  std::optional<Norms> first_norms_, last_norms_; ///< norms of b - A x in the beginning and of the present x
  double last_restart_ = std::numeric_limits<double>::infinity(); ///< norm_ at the last restart
};

} // namespace

Result cg(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
          const CgParameters& parameters) {
  return solve_in_range(
      A, b, x, parameters.control,
      [&](const Vector& right, Vector& solution, const IterationControl& control, ResidualRange& range) {
        auto own = parameters;
        own.control = control;
        return ConjugateGradients(A, right, solution, M, own, range).run();
      });
}

VectorBytes cg_vector_bytes(const Preconditioner& M, bool is_fused) {
  constexpr double word = 8;
  const auto diagonal = M.diagonal();
  if (!diagonal) return is_fused ? VectorBytes{7 * word, 4 * word} : VectorBytes{11 * word, 4 * word};
  const double entries = *diagonal == nullptr ? 0 : 1;
  return is_fused ? VectorBytes{(4 + entries) * word, 4 * word} : VectorBytes{(12 + entries) * word, 5 * word};
}

machine::Counts cg_iteration_counts(const machine::Counts& product, std::int64_t size, const Preconditioner& M,
                                    bool is_fused) {
  const auto unknowns = static_cast<double>(size);
  const auto vectors = cg_vector_bytes(M, is_fused);
  const auto diagonal = M.diagonal();
  const double scaling = diagonal && *diagonal != nullptr ? 1 : 0;
  machine::Counts counts = product;
  counts.global_bytes_read += (vectors.read - 8) * unknowns; // the product counts p and q already
  counts.global_bytes_written += (vectors.written - 8) * unknowns;
  counts.effective_flops += (12 + scaling) * unknowns; // three products and three updates of vectors
  counts.flops += (12 + scaling) * unknowns;
  if (is_fused && diagonal) counts.flops += (6 + scaling) * unknowns; // products that predict r.r and r.z, and M^-1 q
  return counts;
}

} // namespace rafter::solvers
