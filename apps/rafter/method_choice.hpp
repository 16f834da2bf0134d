// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>

#include "operator_checks.hpp"

/// A problem that names no method gets one that can solve it.
namespace rafter::app {

/// A method has a reason if it is not the one that the problem asks for or the default.
struct MethodChoice {
  std::string method, reason;
};

/// Returns the method of the problem if it names one. Otherwise the choice is direct for an operator with at most
/// max_direct_unknowns unknowns which is not symmetric, or which has a diagonal entry that is not positive; the
/// diagonal counts only if the preconditioner needs it. It is cg in all other cases.
MethodChoice choose_method(const io::Problem& problem, const op::Operator& A, const Probe& probe);

/// Does the same for a nonlinear problem, whose tangent at `start` is A; `linearise` moves A to another state. The
/// tangent at a constant state may be symmetric or singular though others are not, so that the one at a random state
/// near it is examined, too. A is at `start` again in the end. Throws InputError as require_finite() and
/// require_symmetric() do, and as require_regular() does for the tangent near `start`.
MethodChoice choose_for_tangents(const io::Problem& problem, const op::Operator& A, const ProblemForms& forms,
                                 const op::Vector& start, const std::function<void(const op::Vector&)>& linearise);

/// Returns the method to try after cg, which was chosen here, has failed with the preconditioner M: direct if the
/// operator turned out not to be positive definite and has few unknowns, else nothing.
std::optional<MethodChoice> choose_after(const io::Problem& problem, const op::Operator& A,
                                         const solvers::Result& result, const solvers::Preconditioner& M);

/// Returns the method to try where the preconditioner cannot be made, for the reason that its error tells: direct if no
/// method is named and there are few unknowns, else nothing.
std::optional<MethodChoice> choose_without_preconditioner(const io::Problem& problem, const op::Operator& A,
                                                          const base::SolverError& error);

/// The factors of a matrix with so many unknowns take seconds at most, even in three dimensions.
inline constexpr std::int64_t max_direct_unknowns = 20'000;

} // namespace rafter::app
