// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/generate/system.hpp>

namespace rafter::op {
struct GeneratedForm;
} // namespace rafter::op

/// The mesh and the function spaces of a problem are made here, unless they do not fit into memory.
namespace rafter::app {

/// Returns the mesh of a problem: it is read or generated, refined and checked, and its periodic facets are identified.
/// Throws InputError.
std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem);

/// Says whether the linear systems of a problem, or blocks of their preconditioner, are preconditioned by multigrid.
bool uses_multigrid(const io::Problem& problem);

/// Says whether the linear systems of a problem have a preconditioner for each field.
bool uses_blocks(const io::Problem& problem);

/// Returns the same mesh with those that it was refined from where the problem uses multigrid, else alone. A box that
/// multigrid coarsens has the cells of make_mesh() in another order. A linear problem of one field that names no
/// preconditioner gets multigrid here where conjugate gradients with Jacobi would run for seconds.
mesh::Generations make_meshes(io::Problem& problem);

/// Returns the number of unknowns of a problem without allocating them.
double count_unknowns(const io::Problem& problem, const mesh::Mesh& mesh);

/// Returns a lower estimate of the bytes that a solve needs: vectors of the solver and index tables, but not what
/// kernels store. Problems that cannot fit are refused by it.
double estimate_bytes(const io::Problem& problem, const mesh::Mesh& mesh, const mesh::CellBatches& batches);

/// Makes one space per field, on batches of at least `cells_per_batch` cells. Throws EnvironmentError when the problem
/// does not fit into the memory of this machine.
op::System make_system(const io::Problem& problem, const std::shared_ptr<const mesh::Mesh>& mesh, int cells_per_batch);

/// The kernels of a problem as text are known before their data take memory.
struct PlannedForms {
  std::vector<std::shared_ptr<op::GeneratedForm>> kept;    ///< kernels whose data stay in memory
  std::vector<std::shared_ptr<op::GeneratedForm>> passing; ///< kernels whose data exist one after the other
};

/// Throws EnvironmentError when the problem does not fit into memory with the numbers that its kernels store; the
/// message names the kernel that stores most.
void require_stored_fits(const io::Problem& problem, const op::System& system, const PlannedForms& forms);

/// Returns the number of cells of each shape, in the order of first appearance.
std::vector<std::pair<std::string, std::int64_t>> cells_per_shape(const mesh::Mesh& mesh);

std::vector<std::string> field_names(const io::Problem& problem);

/// Throws InputError, which begins with `place`, where "all" might be meant for a group of facets of this name that is
/// a part of the boundary.
void require_no_other_all(const mesh::Mesh& mesh, const std::string& place);

} // namespace rafter::app
