// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>

#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>

#include "operator_checks.hpp"

/// Chooses the method for a problem that names none.
namespace rafter::app {

/// A method and, where the problem does not ask for it, why it was taken.
struct MethodChoice {
  std::string method, reason;
};

/// The method of the problem where it has one. Else direct for an operator of few unknowns (max_direct_unknowns) that
/// is not symmetric or has a diagonal entry which is not positive, as far as a Jacobi preconditioner asks for the
/// diagonal anyway; cg for all others.
MethodChoice choose_method(const io::Problem& problem, const op::Operator& A, const Probe& probe);

/// The same for a problem that is not linear, whose tangent at `start` A is: `linearise` moves A to another state. A
/// start that is constant may hide that tangents are not symmetric, or make its own singular, so that a random state
/// near it is asked, too. Leaves A at the start. Throws InputError as require_finite and require_symmetric, and as
/// require_regular of the state near the start.
MethodChoice choose_for_tangents(const io::Problem& problem, const op::Operator& A, const ProblemForms& forms,
                                 const op::Vector& start, const std::function<void(const op::Vector&)>& linearise);

/// What takes the place of cg, which was chosen here and has failed: direct where the operator turned out not to be
/// positive definite and has few unknowns, else nothing.
std::optional<MethodChoice> choose_after(const io::Problem& problem, const op::Operator& A,
                                         const solvers::Result& result);

/// Factors of so many unknowns take seconds, in three dimensions, too.
inline constexpr std::int64_t max_direct_unknowns = 20'000;

} // namespace rafter::app
