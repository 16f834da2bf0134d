// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/theta_stepper.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/force_norm.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {
namespace {

/// Returns the 2-norm of the loads on free unknowns and the reactions of a state on fixed ones.
double scale_of(const op::Operator& A, const Vector& load, const Vector& x) {
  const auto reference = force_norm(A, load);
  return reference ? reference(x) : load_norm(A, load);
}

} // namespace

TimeGrid::TimeGrid(double start, double end, double step, double theta)
    : start_(start), end_(end), step_(step), theta_(theta) {
  if (!(std::isfinite(start) && std::isfinite(end) && std::isfinite(step) && step > 0 && end > start))
    throw base::InputError(fmt::format("time steps: accepted are a step above 0 and an end after the start, found step "
                                       "{} from {} to {}",
                                       step, start, end));
  if (!(theta >= 0 && theta <= 1))
    throw base::InputError(fmt::format("time steps: theta = {} is out of range (0 to 1)", theta));
  constexpr double most_steps = 1e9;
  const double steps = (end - start) / step;
  if (steps > most_steps) throw base::InputError(fmt::format("time steps: {:.1e} steps are too many", steps));
  // A rest that comes from rounding makes no step of its own.
  num_steps_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(steps * (1 - 1e-12) - 1e-9)));
  ends_with_whole_step_ = std::abs(end - time(num_steps_ - 1) - step) <= 1e-6 * step;
}

double TimeGrid::time(std::int64_t number) const {
  if (number == num_steps_ && !ends_with_whole_step_) return end_;
  return start_ + static_cast<double>(number) * step_;
}

TimeStep TimeGrid::step(std::int64_t number) const {
  const double begin = time(number - 1), end = time(number);
  const bool is_whole = number < num_steps_ || ends_with_whole_step_;
  return {.begin = begin, .end = end, .length = is_whole ? step_ : end - begin, .theta = theta_};
}

ThetaStepper::ThetaStepper(form::ThetaForms forms, std::vector<std::string> names,
                           std::shared_ptr<op::Operator> tangent, std::shared_ptr<const op::GeneratedForm> load,
                           TimeSolverOptions options)
    : forms_(std::move(forms)), names_(std::move(names)), tangent_(std::move(tangent)), options_(std::move(options)) {
  mesh::require_whole(*tangent_->system().mesh, "steps in time");
  options_.solver.fields = std::make_shared<const FieldBalance>(*tangent_, names_);
  if (forms_.is_linear)
    load_ = std::make_unique<op::LinearForm>(std::move(load));
  else
    problem_ = std::make_unique<ResidualProblem>(std::move(load), tangent_, names_);
}

void ThetaStepper::use_null_space(ConstrainedNullSpace null_space) {
  null_space_ = std::move(null_space);
  options_.solver.null_space = null_space_.null_space();
  preconditioner_->reset();
}

void ThetaStepper::use_method(const std::string& method) {
  options_.solver.method = method;
  preconditioner_->reset();
}

void ThetaStepper::use_hierarchy(std::shared_ptr<const MultigridHierarchy> hierarchy) {
  options_.solver.hierarchy = std::move(hierarchy);
  preconditioner_->reset();
}

void ThetaStepper::set(const std::string& name, double value) {
  if (has_parameter(forms_.tangent, name)) {
    const auto known = parameters_.find(name);
    if (known == parameters_.end() || known->second != value) {
      tangent_->set(name, value);
      is_stale_ = true;
    }
    parameters_[name] = value;
  } else if (tangent_->has_boundary_parameter(name))
    tangent_->set(name, value);
  if (has_parameter(forms_.load, name)) load().set(name, value);
}

void ThetaStepper::set_parameter(const std::string& name, double value) {
  const bool is_known =
      has_parameter(forms_.tangent, name) || has_parameter(forms_.load, name) || tangent_->has_boundary_parameter(name);
  if (!is_known || name == form::time_name)
    throw base::InputError(fmt::format("the equations have no parameter '{}' but the time", name));
  set(name, value);
}

void ThetaStepper::set_data(const std::string& name, const Vector& values) {
  const bool is_of_tangent = has_field(forms_.tangent, name), is_of_load = has_field(forms_.load, name);
  if ((!is_of_tangent && !is_of_load) || std::ranges::find(names_, name) != names_.end())
    throw base::InputError(fmt::format("the equations have no known field '{}'", name));
  if (is_of_tangent) tangent_->set(name, values);
  if (is_of_load) load().set(name, values);
  is_stale_ = is_stale_ || is_of_tangent;
}

void ThetaStepper::set_state(const Vector& u) {
  op::check_size(tangent_->system(), u, "the state");
  for (std::size_t f = 0; f < names_.size(); ++f) {
    set_field(form::old_field_name(names_[f]), u, f);
    set_field(form::intermediate_name(names_[f]), intermediate_ ? intermediate_->values : u, f);
  }
}

void ThetaStepper::set_field(const std::string& name, const Vector& values, std::size_t field) {
  const auto range = tangent_->system().entries(field);
  if (has_field(forms_.tangent, name)) {
    tangent_->set(name, values, range);
    is_stale_ = true;
  }
  if (has_field(forms_.load, name)) load().set(name, values, range);
}

ThetaStepper::Weights ThetaStepper::weights_of(const TimeStep& step) const {
  form::require_theta(forms_, step.theta);
  // Times are counted from the intermediate value before, so that equal steps have equal shares.
  const double lag = intermediate_ ? intermediate_->lag : 0, last = step.theta * step.length;
  const double share = (lag + last) / (lag + step.length);
  return {.first = (1 - step.theta) * step.length,
          .last = last,
          .constraint = step.length,
          .theta = step.theta,
          .algebraic_share = share,
          .multiplier_share = intermediate_ ? share : 1};
}

/// Returns the intermediate value of a step that led to the state `u`. The one before has the lag of the step already.
IntermediateValues ThetaStepper::intermediate_after(const Weights& weights, const Vector& u,
                                                    IntermediateValues before) const {
  const VectorOps ops(u.device());
  for (std::size_t f = 0; f < names_.size(); ++f) {
    if (forms_.roles[f] == form::FieldRole::differential) continue;
    const bool is_multiplier = forms_.roles[f] == form::FieldRole::multiplier;
    const double share = is_multiplier ? weights.multiplier_share : weights.algebraic_share;
    const auto range = tangent_->system().entries(f);
    ops.runner().run("scale", {1 - share}, {{before.values, range}});
    ops.runner().run("axpy", {share}, {{u, range}, {before.values, range}});
  }
  return before;
}

void ThetaStepper::bind(const Weights& weights, double begin, double end, const Vector& u) {
  set(form::old_weight_name, weights.first);
  set(form::new_weight_name, weights.last);
  set(form::constraint_weight_name, weights.constraint);
  set(form::theta_name, weights.theta);
  set(form::algebraic_share_name, weights.algebraic_share);
  set(form::multiplier_share_name, weights.multiplier_share);
  set(form::old_time_name, begin);
  set(form::time_name, end);
  set_state(u);
}

void ThetaStepper::bind(const TimeStep& step, const Vector& u) {
  bind(weights_of(step), step.begin, step.end, u);
  if (!problem_) return;
  problem_->bind(u);
  problem_->linearise(u);
}

std::string ThetaStepper::describe_non_finite(const TimeStep& step, const Vector& u) {
  bind(step, u);
  Vector r = tangent_->make_vector();
  if (problem_)
    problem_->residual(u, r);
  else
    load_->assemble(r);
  const VectorOps ops(r.device());
  const bool is_finite = ops.first_non_finite(r) < 0;
  if (!problem_) return is_finite ? "" : "the right-hand side of the first step is not finite";
  if (!is_finite) return problem_->describe_non_finite(r, u);
  Vector ones = tangent_->make_vector();
  ops.fill(1, ones);
  problem_->apply_tangent_free(ones, r);
  return ops.first_non_finite(r) < 0 ? "" : "its derivative has " + problem_->describe_non_finite(r, u);
}

TimeStepResult ThetaStepper::project(double time, Vector& u) {
  intermediate_.reset();
  begins_implicitly_ = false;
  bind({.first = 0, .last = 0, .constraint = 1, .theta = 1, .algebraic_share = 1, .multiplier_share = 1}, time, time,
       u);
  Vector start = tangent_->make_vector();
  const VectorOps ops(u.device());
  ops.copy(u, start);
  // Multipliers of a state that is consistent already are rounding errors, which have no digits to be judged by
  // themselves.
  const auto field_offsets = std::exchange(options_.solver.control.field_offsets, {});
  auto result = solve(time, u);
  options_.solver.control.field_offsets = field_offsets;
  const bool is_given_up = result.failure == Failure::stopped || result.failure == Failure::non_finite;
  const bool has_algebraic = std::ranges::find(forms_.roles, form::FieldRole::algebraic) != forms_.roles.end();
  if (result.status != Status::converged && !is_given_up && has_algebraic)
    return begin_implicitly(time, start, u, result);
  if (result.failure == Failure::singular_operator)
    result.message +=
        "; the projection of the first state needs dt() of a field on all of the mesh and in all components";
  const auto& system = tangent_->system();
  for (std::size_t f = 0; f < names_.size(); ++f)
    if (forms_.roles[f] == form::FieldRole::multiplier)
      ops.copy_range({start, system.entries(f)}, {u, system.entries(f)});
  return result;
}

TimeStepResult ThetaStepper::begin_implicitly(double time, const Vector& start, Vector& u,
                                              const TimeStepResult& failed) {
  const VectorOps ops(u.device());
  ops.copy(start, u);
  if (set_boundary_values) set_boundary_values(time);
  Vector load = tangent_->make_vector();
  ops.fill(0, load);
  tangent_->apply_boundary_values(load, u);
  begins_implicitly_ = true;
  preconditioner_->reset();
  return {.status = Status::converged,
          .message = {},
          .warning =
              fmt::format("it has the boundary values, but is not made consistent, since {}; the first step is "
                          "one of the implicit Euler method",
                          failed.failure == Failure::none
                              ? std::string("the solver has not found the fields without dt() there")
                              : fmt::format("the equations without dt() do not determine their fields there ({})",
                                            name(failed.failure))),
          .iterations = failed.iterations};
}

TimeStepResult ThetaStepper::advance(const TimeStep& given, Vector& u) {
  form::require_theta(forms_, given.theta);
  auto step = given;
  if (begins_implicitly_) step.theta = 1;
  const auto weights = weights_of(step);
  bind(weights, step.begin, step.end, u);
  if (!forms_.has_intermediates) {
    const auto result = solve(step.end, u);
    begins_implicitly_ = begins_implicitly_ && result.status != Status::converged;
    return result;
  }
  IntermediateValues intermediate{tangent_->make_vector(), (1 - step.theta) * step.length};
  VectorOps(u.device()).copy(intermediate_ ? intermediate_->values : u, intermediate.values);
  const auto result = solve(step.end, u);
  if (result.status != Status::converged) return result;
  intermediate_ = intermediate_after(weights, u, std::move(intermediate));
  begins_implicitly_ = false;
  return result;
}

TimeStepResult ThetaStepper::solve(double time, Vector& u) {
  if (set_boundary_values) set_boundary_values(time);
  return problem_ ? solve_by_newton(u) : solve_linear(u);
}

const Preconditioner& ThetaStepper::current_preconditioner() {
  if (const auto* kept = preconditioner_->get(); kept != nullptr && !is_stale_) return *kept;
  const auto& result = preconditioner_->update(*tangent_, options_.solver);
  is_stale_ = false;
  return result;
}

TimeStepResult ThetaStepper::solve_linear(Vector& u) {
  const auto& A = *tangent_;
  const VectorOps ops(A.device());
  Vector b = A.make_vector(), load = A.make_vector();
  load_->assemble(b);
  ops.copy(b, load);
  A.apply_boundary_values(b, u);
  TimeStepResult result;
  result.removed = null_space_.balance(b, load);
  const double scale = scale_of(A, load, u);
  auto options = options_.solver;
  options.control.least_reference = scale;
  options.control.reference = [scale](const Vector&) { return scale; };
  const Preconditioner* M = nullptr;
  try {
    M = &current_preconditioner();
  } catch (const base::SolverError& error) {
    result.status = Status::failed;
    result.failure = Failure::singular_operator;
    result.message = error.what();
    return result;
  }
  const auto solved = run_for_each_field(A, b, u, *M, options);
  null_space_.constrain(u);
  result.status = solved.status;
  result.failure = solved.failure;
  result.message = solved.message;
  result.warning = solved.warning;
  result.iterations = solved.iterations;
  Vector r = A.make_vector();
  A.apply(u, r);
  ops.subtract_from(b, r);
  const double norm = ops.norm(r);
  result.relative_residual = scale > 0 ? norm / scale : norm;
  return result;
}

TimeStepResult ThetaStepper::solve_by_newton(Vector& u) {
  auto options = options_.newton;
  options.solver = options_.solver;
  options.preconditioner = preconditioner_;
  auto solved = newton(*problem_, u, options);
  constrain(*problem_, null_space_, options.rtol, u, solved);
  TimeStepResult result;
  result.status = solved.status;
  result.failure = solved.failure;
  result.message = solved.message;
  result.warning = solved.warning;
  result.iterations = solved.linear_iterations;
  result.newton_steps = solved.iterations;
  result.relative_residual = solved.relative_residual;
  return result;
}

} // namespace rafter::solvers
