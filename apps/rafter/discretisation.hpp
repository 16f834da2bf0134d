// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/operator/form_kernels.hpp>

/// Mesh and function spaces of a problem.
namespace rafter::app {

/// The mesh of a problem: read or made, refined, valid. Throws InputError.
std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem);

/// Unknowns of a problem, counted without allocating them.
double count_unknowns(const io::Problem& problem, const mesh::Mesh& mesh);

/// Bytes that a solve will need at least: vectors of the solver, index tables and stored geometry. An estimate that
/// serves to refuse what cannot work.
double estimate_bytes(const io::Problem& problem, const mesh::Mesh& mesh, const mesh::CellBatches& batches);

/// One space per field, on batches of `lanes` cells. Throws InputError when the problem does not fit into the memory of
/// this machine.
op::System make_system(const io::Problem& problem, const std::shared_ptr<const mesh::Mesh>& mesh, int lanes);

/// Cells per shape, in the order of first appearance.
std::vector<std::pair<std::string, std::int64_t>> cells_per_shape(const mesh::Mesh& mesh);

} // namespace rafter::app
