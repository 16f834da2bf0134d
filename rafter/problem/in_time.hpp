// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/theta_stepper.hpp>

/// Solves in time as programs ask for them.
namespace rafter::problem {

/// Options of solve_in_time(); times have the unit of the form's dt().
struct TimeOptions {
  double start = 0, end = 1, step = 0.1; ///< the last step may be shorter
  double theta = 1;                      ///< 1: implicit Euler method; 0.5: Crank and Nicolson's
  /// Solvers of linear systems, whose method is chosen where none is named, as for SolveOptions, with tolerances
  /// relative to the loads of a step; and of problems that are not linear.
  solvers::TimeSolverOptions solvers{.solver = {.control = {.rtol = 1e-8}}, .newton = {}};
  std::optional<op::Vector> initial; ///< state at the first time, made consistent (ThetaStepper::project); absent: 0
  /// Called with each time and the state then, from the first on, the consistent one.
  std::function<void(double time, const op::Vector& state)> monitor;
  std::vector<NamedValues> data; ///< values of the other data fields of F, by name; their dt() is 0
  std::vector<std::pair<std::string, double>> parameters; ///< those of F and boundary values, by name, but for the time
  op::OperatorOptions discretisation; ///< options with Dirichlet conditions, whose values may hold parameter("t")
  /// Conditions that fix what the operator of the steps leaves open, one per field at most; for linear problems.
  std::vector<solvers::NullSpaceCondition> null_space;
  /// Levels below the operator of the steps, by whose cycles solvers.solver is then preconditioned.
  std::optional<MultigridOptions> multigrid;
};

/// The state at the last time that was reached, and how each step went.
struct TimeResult {
  op::Vector solution;                        ///< state at the last time that was reached, or the initial one
  double time = 0;                            ///< time of that state
  std::vector<solvers::TimeStepResult> steps; ///< first the projection of the initial state
  std::string method;                         ///< method of the linear systems
  bool is_converged() const { return steps.back().status == solvers::Status::converged; }
};

/// Solves F(dt(u), u, t; v) = 0 for all test functions v in time by a theta scheme (form::ThetaForms). Every field that
/// is solved for is in `unknowns`; those without dt() in F get the order of the others, and need a theta above 0.
/// Throws InputError for forms that do not fit, and at the first step as solve_nonlinear() does; steps that fail end
/// the run, with the reason in the result.
///
///     auto u = field(V.ptr(), "u"), t = parameter("t");
///     auto F = (dt(u) * v + inner(grad(u), grad(v)) - sin(t) * v) * dx;
///     auto result = solve_in_time(F, {u}, {.end = 1, .step = 0.01, .theta = 0.5});
TimeResult solve_in_time(const form::Form& F, const std::vector<form::Expr>& unknowns, const TimeOptions& options);

} // namespace rafter::problem
