// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include <rafter/base/error.hpp>
#include <rafter/form/form.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/solver.hpp>

/// Preconditioners of several parts get these parts from the problem.
namespace rafter::app {

class PreparedProblem;

/// Calls a function of the solvers. Its InputErrors get the place of solver.preconditioner, or that of the problem file
/// where the file names none, unless they name a place already.
void at_preconditioner(const io::Problem& problem, const std::function<void()>& function);

/// Generates the blocks of a problem with solver.blocks, whose diagonal blocks are taken of `form`. Throws InputError
/// with the place of solver.preconditioner.
solvers::GeneratedBlocks generate_blocks(const io::Problem& problem, const form::Form& form, const op::System& system,
                                         std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels,
                                         const std::shared_ptr<const mesh::Generations>& meshes);

/// Gives the options the levels of multigrid, or the blocks, that the preconditioner of the problem needs. The null
/// space of the options is that of the operator.
void add_preconditioner_parts(const PreparedProblem& prepared, solvers::SolverOptions& options);

/// Says whether the options have multigrid because the problem names no preconditioner (make_meshes).
bool has_chosen_multigrid(const io::Problem& problem, const solvers::SolverOptions& options);

/// Returns the options, with fewer iterations where multigrid was chosen: if it serves, it does not need more.
solvers::SolverOptions trial_options(const io::Problem& problem, solvers::SolverOptions options);

/// Says whether a solve with a preconditioner that was chosen failed, though the iterations of the problem are not over
/// and the user did not stop it.
bool needs_jacobi(const solvers::Result& result, const solvers::SolverOptions& options);

/// Gives the options Jacobi in place of multigrid, and tells why.
void take_jacobi(const PreparedProblem& prepared, solvers::SolverOptions& options, const std::string& reason);

/// Throws the error that is being handled, of a preconditioner that cannot be made, with its place where the problem
/// names it: InputError where another solver of the coarsest level would serve.
[[noreturn]] void refuse_preconditioner(const io::Problem& problem, const base::SolverError& error);

/// Makes the preconditioner of the options for the operator of the problem. Jacobi takes the place of multigrid that
/// was chosen and cannot be made. Throws InputError for methods that the preconditioner does not serve because it is
/// indefinite.
std::shared_ptr<const solvers::Preconditioner> make_preconditioner(const PreparedProblem& prepared,
                                                                   solvers::SolverOptions& options);

} // namespace rafter::app
