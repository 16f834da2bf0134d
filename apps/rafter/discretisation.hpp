// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/operator/form_builder.hpp>

/// Mesh and function spaces of a problem.
namespace rafter::app {

/// The mesh of a problem: read or made, refined, valid, with its periodic facets. Throws InputError.
std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem);

/// Unknowns of a problem, counted without allocating them.
double count_unknowns(const io::Problem& problem, const mesh::Mesh& mesh);

/// Bytes that a solve will need at least, whatever its kernels keep: vectors of the solver and index tables. An
/// estimate that serves to refuse what cannot work.
double estimate_bytes(const io::Problem& problem, const mesh::Mesh& mesh, const mesh::CellBatches& batches);

/// One space per field, on batches of at least `cells_per_batch` cells. Throws InputError when the problem does not fit
/// into the memory of this machine.
op::System make_system(const io::Problem& problem, const std::shared_ptr<const mesh::Mesh>& mesh, int cells_per_batch);

/// The kernels of a problem before they take memory.
struct PlannedForms {
  std::vector<std::shared_ptr<op::GeneratedForm>> kept;    ///< with their data all the time
  std::vector<std::shared_ptr<op::GeneratedForm>> passing; ///< one after the other
};

/// Throws InputError when the problem with all numbers that its kernels store does not fit into memory, and says which
/// kernel stores most.
void require_stored_fits(const io::Problem& problem, const op::System& system, const PlannedForms& forms);

/// Cells per shape, in the order of first appearance.
std::vector<std::pair<std::string, std::int64_t>> cells_per_shape(const mesh::Mesh& mesh);

} // namespace rafter::app
