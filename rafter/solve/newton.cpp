// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/newton.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

constexpr int max_load_halvings = 6;
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

/// The values of R at a state, reactions apart.
struct Residual {
  Vector values;        ///< 0 at constrained entries
  double norm = 0;      ///< of the values
  double reactions = 0; ///< norm of R at constrained entries
  bool is_finite = false;
};

struct End {
  Status status;
  Failure failure = Failure::none;
  std::string message{}, warning{};
};

class Newton {
public:
  Newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options)
      : problem_(problem), u_(u), options_(options), ops_(problem.device()),
        entries_(problem.constraints().entries), residual_{make_vector()}, trial_residual_{make_vector()},
        step_(make_vector()), trial_(make_vector()), right_(make_vector()) {
    require_options();
    for (const auto entry : entries_) boundary_start_.push_back(u.host_read()[index(entry)]);
  }

  NewtonResult run() {
    const auto begin = std::chrono::steady_clock::now();
    Vector reached = make_vector();
    double factor = 0, increment = 1.0 / options_.load_steps;
    const double least = std::ldexp(increment, -max_load_halvings);
    std::optional<End> end;
    while (!end || (end->status == Status::converged && factor < 1)) {
      ops_.copy(u_, reached);
      const double next = factor + increment > 1 - 0.5 * least ? 1 : factor + increment;
      end = load_step(next);
      const bool may_halve = options_.load_steps > 1 && end->failure != Failure::stopped && 0.5 * increment >= least;
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
    result_.warning = std::move(end->warning);
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
  }

private:
  static std::size_t index(std::int32_t entry) { return static_cast<std::size_t>(entry); }
  Vector make_vector() const { return Vector(problem_.device(), static_cast<std::size_t>(problem_.size())); }

  void require_options() const {
    const auto& o = options_;
    if (!(o.rtol > 0 && o.rtol < 1 && o.atol >= 0 && o.max_iterations >= 1 && o.load_steps >= 1 && o.max_halvings >= 0))
      throw base::InputError("newton: accepted are 0 < rtol < 1, atol >= 0, max_iterations >= 1, load_steps >= 1 and "
                             "max_halvings >= 0");
    if (static_cast<std::int64_t>(u_.size()) != problem_.size())
      throw base::InputError(
          fmt::format("newton: the state has {} entries, the problem {}", u_.size(), problem_.size()));
  }

  /// From the state of the load factor before to the one of this factor.
  End load_step(double factor) {
    factor_ = factor;
    problem_.set_load_factor(factor);
    const auto& values = problem_.constraints().values;
    boundary_.resize(entries_.size());
    has_boundary_values_ = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      boundary_[i] = factor == 1 ? values[i] : boundary_start_[i] + factor * (values[i] - boundary_start_[i]);
      has_boundary_values_ = has_boundary_values_ || boundary_[i] != 0 || u_.host_read()[index(entries_[i])] != 0;
    }
    evaluate(u_, residual_);
    if (!residual_.is_finite) return refuse_start();
    first_norm_ = residual_.norm;
    auto forcing = options_.forcing;
    forcing.smallest = std::clamp(options_.solver.control.rtol, forcing.smallest, forcing.largest);
    forcing_ = ForcingTerms(forcing);
    for (int iteration = 0;; ++iteration) {
      result_.steps.push_back({.load_factor = factor, .residual = relative(residual_.norm), .is_last = true});
      result_.relative_residual = result_.steps.back().residual;
      if (options_.monitor && !options_.monitor(result_.iterations, result_.relative_residual)) return stopped();
      find_lift();
      if (!has_lift_ && residual_.norm <= target()) return {Status::converged};
      if (iteration == options_.max_iterations)
        return {Status::not_converged, Failure::none,
                fmt::format("{} Newton steps (max_iterations) left a relative residual of {:.2e}", iteration,
                            result_.relative_residual)};
      if (auto end = newton_step()) return std::move(*end);
    }
  }

  End refuse_start() {
    auto message =
        "the residual of the starting state is not finite: " + problem_.describe_non_finite(trial_residual_.values);
    if (result_.steps.empty()) throw base::InputError(message);
    return {Status::failed, Failure::non_finite, std::move(message)};
  }

  static End stopped() { return {Status::failed, Failure::stopped, "the monitor asked to stop"}; }

  double reference() const { return has_boundary_values_ ? std::hypot(first_norm_, residual_.reactions) : first_norm_; }
  double relative(double norm) const { return norm > 0 && reference() > 0 ? norm / reference() : norm; }
  double target() const { return std::max(options_.rtol * reference(), options_.atol); }

  /// R at a state. What is not finite is left in trial_residual_ as it is, for messages.
  void evaluate(const Vector& u, Residual& to) {
    problem_.residual(u, trial_residual_.values);
    to.is_finite = ops_.first_non_finite(trial_residual_.values) < 0;
    if (!to.is_finite) return;
    if (&to != &trial_residual_) ops_.copy(trial_residual_.values, to.values);
    double reactions = 0;
    const auto values = to.values.host_write();
    for (const auto entry : entries_) {
      double& value = values[index(entry)];
      reactions += value * value;
      value = 0;
    }
    to.reactions = std::sqrt(reactions);
    to.norm = ops_.norm(to.values);
  }

  /// step_ = what boundary values still lack, 0 at free entries.
  void find_lift() {
    ops_.fill(0, step_);
    has_lift_ = false;
    const auto u = u_.host_read();
    const auto step = step_.host_write();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      step[index(entries_[i])] = boundary_[i] - u[index(entries_[i])];
      has_lift_ = has_lift_ || step[index(entries_[i])] != 0;
    }
  }

  std::optional<End> newton_step() {
    problem_.linearise(u_);
    auto& step = result_.steps.back();
    step.is_last = false;
    if (auto end = find_direction(step)) return end;
    const double slope = ops_.dot(step_, residual_.values);
    if (!std::isfinite(slope)) return failed(Failure::non_finite, "the linear system of the step gives NaN or Inf");
    if (step.has_negative_curvature && !has_lift_ && slope >= 0)
      return failed(Failure::indefinite_operator,
                    "the tangent is not positive definite, and the direction that cg found does not descend: use "
                    "more load_steps, another starting value, or method = \"direct\" or \"minres\"");
    const bool is_found = options_.line_search && !has_lift_ ? search(step, slope) : halve(step);
    const double size = step.length * ops_.norm(step_), scale = ops_.norm(u_);
    if (!is_found) return no_length(size, scale);
    ++result_.iterations;
    const double before = residual_.norm;
    ops_.copy(trial_, u_);
    std::swap(residual_, trial_residual_);
    const bool is_settled = !has_lift_ && size <= rounding * scale && residual_.norm > 0.5 * before;
    if (is_settled && residual_.norm > target()) return rounded();
    if (residual_.norm > 1e10 * std::max(reference(), before) && reference() > 0)
      return failed(Failure::diverged, "the residual grows without bound");
    return std::nullopt;
  }

  End failed(Failure failure, const std::string& message) const {
    return {Status::failed, failure, fmt::format("Newton step {}: {}", result_.iterations + 1, message)};
  }

  End rounded() {
    result_.relative_residual = relative(residual_.norm);
    result_.steps.push_back({.load_factor = factor_, .residual = result_.relative_residual, .is_last = true});
    return {Status::converged,
            Failure::none,
            {},
            fmt::format("the residual stays at {:.1e}, which is what rounding leaves; rtol = {:.1e} is out of reach",
                        result_.relative_residual, options_.rtol)};
  }

  /// Solves the linear system of the step, whose boundary values are in step_.
  std::optional<End> find_direction(NewtonStep& step) {
    const auto& tangent = problem_.tangent();
    auto options = options_.solver;
    step.forcing_term = options.control.rtol = forcing_.next(residual_.norm, target());
    options.control.reference = {};
    if (has_lift_) { // residuals are relative to loads and reactions, see force_norm()
      options.control.reference = [this](const Vector& du) {
        problem_.apply_tangent_free(du, trial_);
        return std::hypot(residual_.norm, constrained_norm(trial_));
      };
      problem_.apply_tangent_free(step_, right_);
      ops_.axpy(1, residual_.values, right_);
      ops_.scale(-1, right_);
      const auto right = right_.host_write();
      for (const auto entry : entries_) right[index(entry)] = step_.host_read()[index(entry)];
    } else {
      ops_.copy(residual_.values, right_);
      ops_.scale(-1, right_);
    }
    const auto preconditioner = make_preconditioner(tangent, options);
    const auto solved = solvers::solve(tangent, right_, step_, *preconditioner, options);
    step.linear_iterations = solved.iterations;
    result_.linear_iterations += solved.iterations;
    if (solved.status == Status::converged) return std::nullopt;
    if (solved.failure == Failure::stopped) return stopped();
    if (solved.failure == Failure::indefinite_operator) {
      step.has_negative_curvature = true;
      if (solved.iterations > 0) return std::nullopt;
      if (has_lift_)
        return failed(Failure::indefinite_operator,
                      "the tangent is not positive definite, and cg found no direction that moves the boundary: use "
                      "more load_steps, or method = \"direct\" or \"minres\"");
      preconditioner->apply(right_, step_);
      return std::nullopt;
    }
    // An inexact direction serves as long as it reduces the residual of the linear system.
    const bool is_useful = solved.failure != Failure::non_finite && solved.iterations > 0 &&
                           std::isfinite(solved.relative_residual) && solved.relative_residual < 0.9;
    if (is_useful) return std::nullopt;
    return failed(solved.failure, "the linear system of the step is not solved: " + solved.message);
  }

  double constrained_norm(const Vector& v) const {
    double sum = 0;
    for (const auto entry : entries_) sum += v.host_read()[index(entry)] * v.host_read()[index(entry)];
    return std::sqrt(sum);
  }

  /// trial_ = u + s du with its residual; the whole step ends at the boundary values themselves.
  void try_length(double s) {
    ops_.copy(u_, trial_);
    ops_.axpy(s, step_, trial_);
    if (has_lift_ && s == 1) {
      const auto values = trial_.host_write();
      for (std::size_t i = 0; i < entries_.size(); ++i) values[index(entries_[i])] = boundary_[i];
    }
    evaluate(trial_, trial_residual_);
  }

  /// The longest of the steps 1, 1/2, 1/4, ... to a finite state.
  bool halve(NewtonStep& step) {
    step.length = 1;
    for (int i = 0; i <= options_.max_halvings; ++i, step.length *= 0.5) {
      try_length(step.length);
      if (trial_residual_.is_finite) return true;
    }
    return false;
  }

  bool search(NewtonStep& step, double slope) {
    TrialState start{.is_finite = true, .slope = slope, .residual = residual_.norm, .energy = {}};
    if (problem_.has_energy()) start.energy = problem_.energy(u_);
    const auto trial = [this](double s) {
      try_length(s);
      TrialState state{.is_finite = trial_residual_.is_finite};
      if (!state.is_finite) return state;
      state.slope = ops_.dot(step_, trial_residual_.values);
      state.residual = trial_residual_.norm;
      if (!problem_.has_energy()) return state;
      state.energy = problem_.energy(trial_);
      state.is_finite = std::isfinite(*state.energy);
      return state;
    };
    const auto found = search_line(trial, start);
    step.length = found.length;
    return found.is_found;
  }

  End no_length(double size, double scale) {
    if (!trial_residual_.is_finite)
      return failed(Failure::non_finite,
                    fmt::format("the residual is not finite at any state that was tried along the step: {}",
                                problem_.describe_non_finite(trial_residual_.values)));
    if (size <= rounding * scale) return rounded();
    return failed(Failure::stagnated, fmt::format("the line search finds no length that reduces the residual of {:.2e}",
                                                  result_.relative_residual));
  }

  NonlinearProblem& problem_;
  Vector& u_;
  const NewtonOptions& options_;
  VectorOps ops_;
  const std::vector<std::int32_t>& entries_;      ///< constrained
  std::vector<double> boundary_start_, boundary_; ///< values of these: at the start, and of the load step
  bool has_boundary_values_ = false, has_lift_ = false;
  double factor_ = 0, first_norm_ = 0;
  Residual residual_, trial_residual_; ///< of u and of the trial state
  Vector step_, trial_, right_;
  ForcingTerms forcing_;
  NewtonResult result_;
};

} // namespace

NewtonResult newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options) {
  return Newton(problem, u, options).run();
}

} // namespace rafter::solvers
