// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/form/form.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/solver.hpp>

/// Preconditioners of several parts get these parts from the problem.
namespace rafter::app {

class PreparedProblem;

/// Generates the blocks of a problem with solver.blocks, whose diagonal blocks are taken of `form`. Throws InputError
/// with the place of solver.preconditioner.
solvers::GeneratedBlocks generate_blocks(const io::Problem& problem, const form::Form& form, const op::System& system,
                                         std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels,
                                         const std::shared_ptr<const mesh::Generations>& meshes);

/// Gives the options the levels of multigrid, or the blocks, that the preconditioner of the problem needs. The null
/// space of the options is that of the operator.
void add_preconditioner_parts(const PreparedProblem& prepared, solvers::SolverOptions& options);

} // namespace rafter::app
