// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/newton.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/residual_judge.hpp>

namespace rafter::solvers {
namespace {

constexpr int max_load_halvings = 6;

/// Says how a load step ended.
struct End {
  Status status;
  Failure failure = Failure::none;
  std::string message{}, warning{};
};

/// Returns a power of two that times a norm is about 1; 1 for zero.
double inverse_power(double norm) {
  constexpr int most = 1000; // a double holds this power and its inverse
  return norm > 0 ? std::scalbn(1.0, -std::clamp(std::ilogb(norm), -most, most)) : 1;
}

/// The units of the slopes du . R along a step du, which are 1 unless these products leave the range of doubles.
class SlopeUnits {
public:
  SlopeUnits() = default;
  SlopeUnits(double step, double force) {
    constexpr double small = 1e-120, large = 1e120;
    const auto is_usual = [](double norm) { return norm >= small && norm <= large; };
    if (is_usual(step) && is_usual(force)) return;
    step_ = inverse_power(step);
    force_ = inverse_power(force);
  }
  double slope(const VectorOps& ops, const Vector& step, const Vector& residual) const {
    return ops.scaled_dot(step_, step, force_, residual);
  }
  bool are_one() const { return step_ == 1 && force_ == 1; }

private:
  double step_ = 1, force_ = 1; ///< powers of two
};

/// Explains a step from u that is not finite. The tangent is applied to ones, because then it is not finite wherever a
/// cell holds such a coefficient.
std::string describe_non_finite_step(const NonlinearProblem& problem, const Vector& u) {
  const VectorOps ops(problem.device());
  Vector ones(problem.device(), u.size()), image(problem.device(), u.size());
  ops.fill(1, ones);
  problem.apply_tangent_free(ones, image);
  return ops.first_non_finite(image) >= 0 ? "the tangent is not finite: " + problem.describe_non_finite(image, u)
                                          : "the linear system of the step gives NaN or Inf";
}

/// Says how a direction was found. If it can be used, `failure` is none.
struct Direction {
  int iterations = 0; ///< iterations of the linear solver
  bool has_negative_curvature = false;
  Failure failure = Failure::none;
  std::string message{};
};

/// Solves the linear systems of Newton's method, as accurately as asked for.
class DirectionFinder {
public:
  DirectionFinder(const NonlinearProblem& problem, const NewtonOptions& options)
      : problem_(problem), options_(options.solver),
        kept_(options.preconditioner != nullptr ? options.preconditioner : std::make_shared<KeptPreconditioner>()),
        ops_(problem.device()), work_(problem.device(), static_cast<std::size_t>(problem.size())) {}

  /// Solves R'(u) step = right, from `step` on. With `has_lift`, constrained entries of both are increments of boundary
  /// values, which no direction of descent replaces.
  Direction find(const Vector& right, Vector& step, double tolerance, const ReferenceNorm& reference, bool has_lift) {
    auto options = options_;
    options.control.rtol = tolerance;
    options.control.reference = reference;
    const Preconditioner* preconditioner = nullptr;
    try {
      preconditioner = &kept_->update(problem_.tangent(), options);
    } catch (const base::SolverError& error) {
      return {.failure = Failure::singular_operator, .message = error.what()};
    }
    const auto solved = method_of(options).run(problem_.tangent(), right, step, *preconditioner, options);
    Direction result{.iterations = solved.iterations};
    if (solved.status == Status::converged) return result;
    if (method_of(options).name == "cg" &&
        (solved.failure == Failure::indefinite_operator || solved.failure == Failure::indefinite_preconditioner)) {
      result.has_negative_curvature = true;
      if (solved.iterations > 0) return result;
      if (!has_lift) {
        take_steepest_descent(right, solved.failure == Failure::indefinite_operator ? preconditioner : nullptr, step);
        return result;
      }
      result.failure = Failure::indefinite_operator;
      result.message = "the tangent is not positive definite, and cg found no direction that moves the boundary: use "
                       "more load_steps, or method = \"direct\" or \"minres\"";
      return result;
    }
    if (is_useful(solved)) return result;
    result.failure = solved.failure;
    result.message = "the linear system of the step is not solved: " + solved.message;
    return result;
  }

private:
  /// An inexact direction is useful as long as it reduces the residual of the linear system.
  static bool is_useful(const Result& solved) {
    return solved.failure != Failure::non_finite && solved.failure != Failure::stopped && solved.iterations > 0 &&
           std::isfinite(solved.relative_residual) && solved.relative_residual < 0.9;
  }

  /// Takes the residual as the step where cg meets negative curvature at once, preconditioned where there is a
  /// preconditioner. Its length leads to the stationary point of a quadratic function with this slope and with the
  /// absolute value of this curvature.
  void take_steepest_descent(const Vector& right, const Preconditioner* preconditioner, Vector& step) {
    if (preconditioner != nullptr)
      preconditioner->apply(right, step);
    else
      ops_.copy(right, step);
    problem_.tangent().apply(step, work_);
    const double unit = inverse_power(ops_.norm(step));
    const double curvature = std::abs(ops_.scaled_dot(unit, step, unit, work_));
    const double slope = std::abs(ops_.scaled_dot(unit, step, unit, right));
    if (curvature > 0 && std::isfinite(slope / curvature)) ops_.scale(slope / curvature, step);
  }

  const NonlinearProblem& problem_;
  const SolverOptions& options_;
  std::shared_ptr<KeptPreconditioner> kept_;
  VectorOps ops_;
  Vector work_;
};

void require_valid(const NewtonOptions& o, const NonlinearProblem& problem, const Vector& u) {
  if (!(o.rtol > 0 && o.rtol < 1 && o.atol >= 0 && o.max_iterations >= 1 && o.load_steps >= 1 && o.max_halvings >= 0))
    throw base::InputError("newton: accepted are 0 < rtol < 1, atol >= 0, max_iterations >= 1, load_steps >= 1 and "
                           "max_halvings >= 0");
  static_cast<void>(ForcingTerms(o.forcing)); // which refuses its own parameters
  if (static_cast<std::int64_t>(u.size()) != problem.size())
    throw base::InputError(fmt::format("newton: the state has {} entries, the problem {}", u.size(), problem.size()));
}

/// Linear systems are never solved more accurately than their own tolerance asks for.
ForcingParameters forcing_parameters(const NewtonOptions& options) {
  auto result = options.forcing;
  result.smallest = std::clamp(options.solver.control.rtol, result.smallest, result.largest);
  return result;
}

End stopped() { return {Status::failed, Failure::stopped, "the monitor asked to stop"}; }

/// Says how a load step ends whose residual is small, where no step reduces it further.
End end_of_small_residual(const std::optional<UnsolvedField>& unsolved, double rtol) {
  if (!unsolved) return {Status::converged};
  if (unsolved->relative > largest_relative_residual(rtol))
    return {Status::not_converged, Failure::none, describe(*unsolved)};
  return {Status::converged, Failure::none, {}, describe(*unsolved)};
}

class Newton {
public:
  Newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options)
      : problem_(problem), u_(u), options_(options), ops_(problem.device()), directions_(problem, options),
        boundary_(problem, u), judge_(problem, boundary_, options.rtol, options.atol), residual_{make_vector()},
        trial_residual_{make_vector()}, step_(make_vector()), trial_(make_vector()), right_(make_vector()),
        increment_(make_vector()) {
    require_valid(options, problem, u);
  }

  NewtonResult run() {
    Vector reached = make_vector();
    double factor = 0, increment = 1.0 / options_.load_steps;
    const double least = std::ldexp(increment, -max_load_halvings);
    std::optional<End> end;
    while (!end || (end->status == Status::converged && factor < 1)) {
      ops_.copy(u_, reached);
      const double next = factor + increment > 1 - 0.5 * least ? 1 : factor + increment;
      end = load_step(next);
      const bool may_halve = options_.load_steps > 1 && end->failure != Failure::stopped && 0.5 * increment >= least;
      if (result_.warning.empty()) result_.warning = end->warning;
      if (end->status == Status::converged)
        factor = next;
      else if (may_halve) {
        increment *= 0.5;
        ops_.copy(reached, u_);
        end.reset();
      }
    }
    result_.load_factor = factor;
    if (factor < 1 && options_.load_steps > 1) end->message += fmt::format(" (load factor {:.4g} was reached)", factor);
    result_.status = end->status;
    result_.failure = end->failure;
    result_.message = std::move(end->message);
    return std::move(result_);
  }

private:
  Vector make_vector() const { return Vector(problem_.device(), static_cast<std::size_t>(problem_.size())); }

  /// Leads from the state of the previous load factor to the one of this factor.
  End load_step(double factor) {
    factor_ = factor;
    problem_.set_load_factor(factor);
    boundary_.set_factor(factor);
    boundary_.settle(u_, step_);
    evaluate(u_, residual_);
    if (!residual_.is_finite) return refuse_start();
    judge_.begin(residual_);
    non_finite_trial_.clear();
    forcing_ = ForcingTerms(forcing_parameters(options_));
    for (int iteration = 0;; ++iteration) {
      result_.steps.push_back({.load_factor = factor, .residual = relative(), .is_last = true});
      result_.relative_residual = result_.steps.back().residual;
      if (options_.monitor && !options_.monitor(result_.iterations, result_.relative_residual)) return stopped();
      has_lift_ = boundary_.find_increment(u_, step_);
      if (!has_lift_ && is_solved(iteration > 0)) return {Status::converged};
      if (iteration == options_.max_iterations && is_small()) return end_of_small();
      if (iteration == options_.max_iterations)
        return {Status::not_converged, Failure::none,
                fmt::format("{} Newton steps (max_iterations) left a relative residual of {:.2e}{}", iteration,
                            result_.relative_residual, non_finite_trials())};
      if (auto end = newton_step())
        return is_small() && end->failure != Failure::stopped ? end_of_small() : std::move(*end);
    }
  }

  bool is_solved(bool has_tangent) {
    const bool result = judge_.is_solved(u_, residual_, has_tangent);
    result_.relative_residual = result_.steps.back().residual = relative();
    return result;
  }

  End refuse_start() {
    auto message = "the residual of the starting state is not finite: " + non_finite_trial_;
    if (result_.steps.empty()) throw base::InputError(message);
    return {Status::failed, Failure::non_finite, std::move(message)};
  }

  double relative() const { return judge_.relative(residual_); }
  End end_of_small() const { return end_of_small_residual(judge_.find_unsolved(u_, residual_), options_.rtol); }
  bool is_small() const { return !has_lift_ && judge_.is_small(residual_); }

  /// Evaluates R at a state. Values that are not finite stay in trial_residual_, for messages.
  void evaluate(const Vector& u, Residual& to) {
    problem_.residual(u, trial_residual_.values);
    to.is_finite = ops_.first_non_finite(trial_residual_.values) < 0;
    if (!to.is_finite) {
      non_finite_trial_ = problem_.describe_non_finite(trial_residual_.values, u);
      return;
    }
    if (&to != &trial_residual_) ops_.copy(trial_residual_.values, to.values);
    to.reactions = boundary_.norm(to.values);
    boundary_.clear_entries(to.values);
    to.norm = ops_.norm(to.values);
    to.is_finite = std::isfinite(to.norm) && std::isfinite(to.reactions);
    if (!to.is_finite) non_finite_trial_ = "values whose norm exceeds the largest double";
  }

  std::optional<End> newton_step() {
    problem_.linearise(u_);
    auto& step = result_.steps.back();
    step.forcing_term = next_forcing_term();
    if (auto end = has_lift_ ? move_boundary(step) : descend(step)) return end_without_step(std::move(*end));
    const double size = ops_.norm(step_), scale = ops_.norm(u_);
    step.is_last = false;
    ++result_.iterations;
    const double before = residual_.norm;
    ops_.copy(trial_, u_);
    std::swap(residual_, trial_residual_);
    if (has_lift_) {
      judge_.measure_magnitude(u_); // boundary values may exert no force, as those of a rigid motion
      return std::nullopt;
    }
    const bool is_slow = residual_.norm > 0.5 * before;
    if (is_slow && !judge_.is_reached(residual_)) {
      if (!judge_.has_magnitude()) judge_.measure_magnitude(u_);
      if (judge_.is_reached(residual_)) return std::nullopt;
      if (size <= state_rounding * scale && judge_.is_rounding(u_, residual_)) return rounded();
    }
    if (judge_.has_diverged(u_, residual_, before)) {
      result_.relative_residual = relative();
      return failed(Failure::diverged, "the residual grows without bound");
    }
    return std::nullopt;
  }

  /// Says how a load step ends whose state has no next one. The state is a solution where its residual is rounding.
  End end_without_step(End end) {
    if (end.status == Status::converged || end.failure == Failure::stopped || has_lift_) return end;
    return judge_.is_rounding(u_, residual_) ? rounded() : end;
  }

  /// Returns the tolerance of the linear system. Residuals before a step that moves the boundary say nothing about the
  /// size of its linear system, so that it gets the term of a first step, and the history of terms begins anew after
  /// it.
  double next_forcing_term() {
    if (!has_lift_) return forcing_.next(residual_.norm, judge_.target(residual_));
    forcing_ = ForcingTerms(forcing_parameters(options_));
    return ForcingTerms(forcing_parameters(options_)).next(0, 0);
  }

  /// Sets trial_ to a state along the direction of Newton's method.
  std::optional<End> descend(NewtonStep& step) {
    ops_.copy(residual_.values, right_);
    ops_.scale(-1, right_);
    if (auto end = find_direction(step, {})) return end;
    slope_units_ = SlopeUnits(ops_.norm(step_), residual_.norm);
    const double slope = slope_units_.slope(ops_, step_, residual_.values);
    if (!std::isfinite(slope)) return not_finite();
    if (step.has_negative_curvature && slope >= 0)
      return failed(Failure::indefinite_operator,
                    "the tangent is not positive definite, and the direction that cg found does not descend: use "
                    "more load_steps, another starting value, or method = \"direct\" or \"minres\"");
    return (options_.line_search ? search(step, slope) : halve(step)) ? std::nullopt : std::optional(no_length());
  }

  /// Sets trial_ to the state after a step that brings the increments of boundary values together with the loads. If
  /// this leaves a residual larger than the forces of its linear system, the step brings the increments alone, which
  /// the tangent extends into the interior: the loads are then left to steps with a line search.
  std::optional<End> move_boundary(NewtonStep& step) {
    ops_.copy(step_, increment_);
    if (auto end = find_lifted_direction(step, true)) return end;
    try_length(1);
    problem_.apply_tangent_free(step_, right_);
    const double forces = std::hypot(residual_.norm, boundary_.norm(right_)); // loads, and reactions to the step
    if (trial_residual_.is_finite && trial_residual_.norm <= forces) return std::nullopt;
    if (!judge_.is_reached(residual_)) {
      ops_.copy(increment_, step_);
      if (auto end = find_lifted_direction(step, false)) return end;
    }
    return halve(step) ? std::nullopt : std::optional(no_length());
  }

  /// Solves for the step whose constrained entries are those of step_.
  std::optional<End> find_lifted_direction(NewtonStep& step, bool has_loads) {
    problem_.apply_tangent_free(step_, right_);
    if (has_loads) ops_.axpy(1, residual_.values, right_);
    ops_.scale(-1, right_);
    boundary_.copy_entries(step_, right_);
    // Residuals are relative to loads and reactions, see force_norm().
    const double loads = has_loads ? residual_.norm : 0;
    if (auto end = find_direction(step, [this, loads](const Vector& du) {
          problem_.apply_tangent_free(du, trial_);
          return std::hypot(loads, boundary_.norm(trial_));
        }))
      return end;
    return std::isfinite(ops_.norm(step_)) ? std::nullopt : std::optional(not_finite());
  }

  End not_finite() const { return failed(Failure::non_finite, describe_non_finite_step(problem_, u_)); }

  End failed(Failure failure, const std::string& message) const {
    return {Status::failed, failure, fmt::format("Newton step {}: {}", result_.iterations + 1, message)};
  }

  End rounded() {
    result_.relative_residual = relative();
    if (!result_.steps.back().is_last)
      result_.steps.push_back({.load_factor = factor_, .residual = result_.relative_residual, .is_last = true});
    if (judge_.is_small(residual_)) return {Status::converged}; // there are no forces but rounding
    return {Status::converged,
            Failure::none,
            {},
            fmt::format("the residual stays at {:.1e}, which is what rounding leaves; rtol = {:.1e} is out of reach",
                        result_.relative_residual, options_.rtol)};
  }

  /// Solves the linear system of the step, whose right-hand side is right_, from step_ on.
  std::optional<End> find_direction(NewtonStep& step, const ReferenceNorm& reference) {
    const auto found = directions_.find(right_, step_, step.forcing_term, reference, has_lift_);
    step.linear_iterations += found.iterations;
    result_.linear_iterations += found.iterations;
    step.has_negative_curvature = step.has_negative_curvature || found.has_negative_curvature;
    if (found.failure == Failure::none) return std::nullopt;
    if (found.failure == Failure::stopped) return stopped();
    const auto vanished = describe_vanished_tangent(problem_, u_);
    return failed(found.failure, vanished.empty() ? found.message : vanished);
  }

  /// Sets trial_ = u + s du and evaluates its residual. The whole step ends at the boundary values themselves, without
  /// rounding.
  void try_length(double s) {
    ops_.copy(u_, trial_);
    ops_.axpy(s, step_, trial_);
    if (has_lift_ && s == 1) boundary_.put_into(trial_);
    evaluate(trial_, trial_residual_);
    has_finite_trial_ = has_finite_trial_ || trial_residual_.is_finite;
  }

  /// Finds the longest of the steps 1, 1/2, 1/4, ... to a finite state.
  bool halve(NewtonStep& step) {
    has_finite_trial_ = false;
    step.length = 1;
    for (int i = 0; i <= options_.max_halvings; ++i, step.length *= 0.5) {
      try_length(step.length);
      if (trial_residual_.is_finite) return true;
    }
    return false;
  }

  bool search(NewtonStep& step, double slope) {
    has_finite_trial_ = false;
    TrialState start{.is_finite = true, .slope = slope, .residual = residual_.norm, .energy = {}};
    if (problem_.has_energy() && slope_units_.are_one()) start.energy = problem_.energy(u_);
    const bool has_energy = start.energy && std::isfinite(*start.energy);
    if (!has_energy) start.energy.reset();
    const auto trial = [this, has_energy](double s) {
      try_length(s);
      TrialState state{.is_finite = trial_residual_.is_finite};
      if (!state.is_finite) return state;
      state.slope = slope_units_.slope(ops_, step_, trial_residual_.values);
      state.residual = trial_residual_.norm;
      if (has_energy) state.energy = problem_.energy(trial_);
      state.is_finite = std::isfinite(state.slope) && std::isfinite(state.energy.value_or(0));
      return state;
    };
    const auto found = search_line(trial, start);
    step.length = found.length;
    return found.is_found;
  }

  End no_length() {
    if (!has_finite_trial_)
      return failed(
          Failure::non_finite,
          fmt::format("the residual is not finite at any state that was tried along the step: {}", non_finite_trial_));
    return failed(Failure::stagnated,
                  fmt::format("the line search finds no length that reduces the residual of {:.2e}{}",
                              result_.relative_residual, non_finite_trials()));
  }

  /// Says where steps of the load step were shortened because the residual had no value, as the end of a message.
  std::string non_finite_trials() const {
    if (non_finite_trial_.empty()) return {};
    return fmt::format("; steps were shortened at states where the residual is not finite, the last of them with {}",
                       non_finite_trial_);
  }

  NonlinearProblem& problem_;
  Vector& u_;
  const NewtonOptions& options_;
  VectorOps ops_;
  DirectionFinder directions_;
  BoundaryValues boundary_; ///< those of the load step
  bool has_lift_ = false;
  bool has_finite_trial_ = false; ///< R is finite at a state that the present search has tried
  double factor_ = 0;             ///< load factor
  ResidualJudge judge_;
  SlopeUnits slope_units_;             ///< units of energies, too
  Residual residual_, trial_residual_; ///< residuals of u and of the trial state
  Vector step_, trial_, right_;
  Vector increment_; ///< increments of boundary values, 0 at free entries
  ForcingTerms forcing_;
  /// Says where the residual of the last state without finite residual is not finite; empty: there was none.
  std::string non_finite_trial_;
  NewtonResult result_;
};

} // namespace

NewtonResult newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = Newton(problem, u, options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace rafter::solvers
