// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/expr.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/problem/problem.hpp>

/// Solves of residual forms share these: their unknowns, and what is asked of their linear systems.
namespace rafter::problem {

/// The system of fields that are solved for, and their names.
std::pair<op::System, std::vector<std::string>> system_of_unknowns(const std::vector<form::Expr>& unknowns,
                                                                   const std::string& who);

/// The state that a solve begins with: the given one, or 0.
void set_initial(const std::optional<op::Vector>& given, op::Vector& u);

/// Gives the options of linear systems with this tangent the parameters of multigrid, if it is asked for, and what
/// algebraic multigrid asks for of the unknowns, unless they have that.
void complete(solvers::SolverOptions& solver, const std::shared_ptr<const op::Operator>& tangent,
              const std::optional<MultigridOptions>& multigrid);

/// States what is asked of the solver of linear systems.
Problem stated(const solvers::SolverOptions& solver, const op::System& system);

} // namespace rafter::problem
