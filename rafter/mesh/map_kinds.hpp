// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/mesh/cell_batches.hpp>

namespace rafter::mesh {

/// The simplest description of each cell's map, shape (cell). Straight cells of a high geometry degree count by what
/// they are. Two positions agree when they differ by less than `tolerance` times the cell's size plus what rounding of
/// its coordinates explains.
std::vector<MapKind> map_kinds(const Mesh& mesh, int group, double tolerance);

} // namespace rafter::mesh
