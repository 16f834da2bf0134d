// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/problem.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/problem/problem.hpp>

/// A problem file, whose parts are texts, becomes a problem of objects. Messages of whoever solves it name places in
/// the file.
namespace rafter::app {

solvers::NullSpaceCondition::Kind kind_of(io::Constraint::Kind kind);

/// Returns the conditions on null spaces of a problem, whose fields are those of the system.
std::vector<solvers::NullSpaceCondition> null_space_of(const io::Problem& file, const op::System& system);

/// Returns the preconditioner of a problem. Multigrid makes its levels from `meshes`.
problem::PreconditionerChoice preconditioner_of(const io::Problem& problem, const mesh::Generations& meshes = {});

/// Makes spaces, forms, conditions and everything else of a problem on its meshes, which make_meshes() has made.
/// `options` say on what device, with what plan and by how many threads it will run. Throws InputError with the place
/// in the file for texts that are wrong, and EnvironmentError where the problem does not fit into memory.
problem::Problem state(const io::Problem& file, const mesh::Generations& meshes, op::OperatorOptions options);

} // namespace rafter::app
