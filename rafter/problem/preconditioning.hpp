// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/request.hpp>

/// Preconditioners of problems: made, refused with the place where they were named, and replaced where they were
/// chosen.
namespace rafter::problem {

/// Calls a function of the solvers. Its InputErrors get the place of the preconditioner, or that of the file where none
/// is named, unless they name a place already; those of a program stay as they are.
void at_preconditioner(const Places& places, const std::function<void()>& function);

/// Says whether the options have multigrid although the problem names no preconditioner.
bool has_chosen_multigrid(const Request& request, const solvers::SolverOptions& options);

/// Returns the options, with fewer iterations where multigrid was chosen: if it serves, it does not need more.
solvers::SolverOptions trial_options(const Request& request, solvers::SolverOptions options);

/// Says whether a solve with a preconditioner that was chosen failed, though the iterations of the problem are not over
/// and the user did not stop it.
bool needs_jacobi(const solvers::Result& result, const solvers::SolverOptions& options);

/// Gives the options Jacobi in place of multigrid, and says why.
void take_jacobi(const Request& request, solvers::SolverOptions& options, const std::string& reason);

/// Throws the error that is being handled, of a preconditioner that cannot be made, with its place where the problem
/// names it: InputError where another solver of the coarsest level would serve.
[[noreturn]] void refuse_preconditioner(const Request& request, const base::SolverError& error);

/// Makes the preconditioner of the options. Jacobi takes the place of multigrid that was chosen and cannot be made.
/// Throws InputError for methods that the preconditioner does not serve because it is indefinite.
std::shared_ptr<const solvers::Preconditioner> make_preconditioner(const Request& request, const op::Operator& A,
                                                                   solvers::SolverOptions& options);

} // namespace rafter::problem
