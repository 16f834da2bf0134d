// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/solve/newton.hpp>

/// Solves of residual forms as programs ask for them.
namespace rafter::problem {

/// Options of solve_nonlinear().
struct NonlinearOptions {
  /// Options of Newton's method. Those of its linear systems are newton.solver, whose method is chosen as that of
  /// SolveOptions if none is named.
  solvers::NewtonOptions newton;
  std::optional<form::Form> energy;                       ///< functional whose derivative is F, for the line search
  std::optional<op::Vector> initial;                      ///< state to start from, absent: 0
  std::vector<NamedValues> data;                          ///< values of the other data fields of F, by name
  std::vector<std::pair<std::string, double>> parameters; ///< parameters of F, the energy and boundary values, by name
  op::OperatorOptions discretisation; ///< options of residual and tangent, with Dirichlet conditions
  /// Levels below the tangent, by whose cycles newton.solver is then preconditioned.
  std::optional<MultigridOptions> multigrid;
};

/// The last state of Newton's method, and how it was found.
struct NonlinearResult {
  op::Vector solution;        ///< one field of `unknowns` after the other
  solvers::NewtonResult info; ///< status, steps with their residuals
  std::string method;         ///< method of the linear systems
  bool is_converged() const { return info.status == solvers::Status::converged; }
};

/// Solves F(u; v) = 0 for all test functions v by Newton's method, with the derivative of F by the unknowns as its
/// tangent. `unknowns`: the coefficient fields that F is to be solved for, one for each space of its test functions. F
/// may hold `constant("load_factor", 1)`, which goes up to 1 with the load steps, as boundary values do. Throws
/// InputError for forms that do not fit, and at the start where F is not finite and for tangents that are singular or
/// not symmetric though the method needs that; other failures are in the result.
///
///     auto u = field(V.ptr(), "u");
///     auto F = (inner((1 + u * u) * grad(u), grad(v)) - f * v) * dx;
///     auto result = solve_nonlinear(F, {u}, {.discretisation = {.dirichlet = {V.fixed({1}, {0.0})}}});
NonlinearResult solve_nonlinear(const form::Form& F, const std::vector<form::Expr>& unknowns,
                                const NonlinearOptions& options = {});

} // namespace rafter::problem
