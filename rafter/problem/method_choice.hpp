// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <rafter/base/error.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/operator_checks.hpp>

/// A problem that names no method gets one that can solve it.
namespace rafter::problem {

/// A method has a reason if it is not the one that the problem asks for or the default.
struct MethodChoice {
  std::string method, reason;
};

/// Says whether options have something that only iterative methods read.
bool asks_for_iterations(const solvers::SolverOptions& solver);

/// Lets a program's request warn of a preconditioner that it names, where a direct solve takes its place.
void warn_of_unused_preconditioner(Request& request);

/// Returns why cg cannot take a form; "" where the form shows nothing of the kind.
std::string what_cg_cannot_take(const op::System& system, const form::LoweredForm& bilinear);

/// Chooses before there are kernels. A problem gets the method direct, with the reason, where it names neither a method
/// nor a preconditioner nor anything of iterations and the factors are forecast to take less than a second, and where
/// it names no method, its form shows that cg cannot take it, and the factors fit (fits_direct_solve). Nothing is
/// chosen for others, nor on devices with memory of their own and for plans in floats. Throws InputError for a form
/// that cg cannot take and whose factors do not fit.
std::optional<MethodChoice> choose_before_kernels(const Request& request, const op::System& system,
                                                  const form::LoweredForm& bilinear, const device::Device& device,
                                                  std::string_view plan);

/// A direct solve that was not asked for, with the seconds that its factors are forecast to take.
struct SmallDirectSolve {
  MethodChoice choice;
  double seconds = 0;
};
/// Makes the choice above for what is small, whatever the form.
std::optional<SmallDirectSolve> small_direct_solve(const Request& request, const op::System& system,
                                                   const device::Device& device, std::string_view plan);

/// Returns direct, with the reason, where multigrid was chosen for a problem, has failed, and the factors are forecast
/// to take less than a second; else nothing.
std::optional<MethodChoice> choose_after_multigrid(const Request& request, const op::Operator& A);

/// Does the same as choose_before_kernels for an operator that is made already, and gives its choice to the request.
void choose_small(Request& request, const op::Operator& A);

/// Returns the method of the problem if it names one. Otherwise the choice is direct for an operator which is not
/// symmetric, or which has a diagonal entry that is not positive, if the factors fit; the diagonal counts only if the
/// preconditioner needs it. It is cg in all other cases. Throws InputError where the factors do not fit.
MethodChoice choose_method(const Request& request, const op::Operator& A, const Probe& probe);

/// Does the same for a nonlinear problem, whose tangent at `start` is A; `linearise` moves A to another state. The
/// tangent at a constant state may be symmetric or singular though others are not, so that the one at a random state
/// near it is examined, too, and `examine_near` is called there, if it is given. A is at `start` again in the end.
/// Throws InputError as require_finite() and require_symmetric() do, and as require_regular() does for the tangent near
/// `start`.
MethodChoice choose_for_tangents(const Request& request, const op::Operator& A, const op::Vector& start,
                                 const std::function<void(const op::Vector&)>& linearise,
                                 const std::function<void()>& examine_near = {});

/// Returns the method to try after cg, which was chosen here, has failed with the preconditioner M: direct if the
/// operator turned out not to be positive definite and the factors fit, else nothing.
std::optional<MethodChoice> choose_after(const Request& request, const op::Operator& A, const solvers::Result& result,
                                         const solvers::Preconditioner& M);

/// Returns the method to try where the preconditioner cannot be made, for the reason that its error gives: direct if no
/// method is named and the factors fit, else nothing.
std::optional<MethodChoice> choose_without_preconditioner(const Request& request, const op::Operator& A,
                                                          const base::SolverError& error);

/// Says whether direct solves that nobody asked for are taken: where the factors are forecast to take at most a minute
/// and half of the memory of this machine.
bool fits_direct_solve(const op::System& system);

} // namespace rafter::problem
