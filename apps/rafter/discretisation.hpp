// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/generate/system.hpp>

/// The mesh and the function spaces of a problem are made here, unless they do not fit into memory.
namespace rafter::app {

/// Returns the mesh of a problem: it is read or generated, refined and checked, and its periodic facets are identified.
/// Throws InputError.
std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem);

/// Says whether the linear systems of a problem, or blocks of their preconditioner, are preconditioned by multigrid.
bool uses_multigrid(const io::Problem& problem);

/// Says whether it is for problem::PreparedProblem to choose between Jacobi and multigrid: for linear problems of one
/// field that name no preconditioner, where their method turns out to be cg.
bool is_preconditioner_open(const io::Problem& problem);

/// Returns the same mesh with those that it was refined from where the problem uses multigrid or may choose it, else
/// alone. A box that multigrid coarsens has the cells of make_mesh() in another order.
mesh::Generations make_meshes(const io::Problem& problem);

/// Makes one space per field, on batches of at least `cells_per_batch` cells. Throws EnvironmentError when the problem
/// does not fit into the memory of this machine.
op::System make_system(const io::Problem& problem, const std::shared_ptr<const mesh::Mesh>& mesh, int cells_per_batch);

/// Throws InputError, which begins with `place`, where "all" might be meant for a group of facets of this name that is
/// a part of the boundary.
void require_no_other_all(const mesh::Mesh& mesh, const std::string& place);

} // namespace rafter::app
