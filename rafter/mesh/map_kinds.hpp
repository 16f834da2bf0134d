// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/mesh/cell_batches.hpp>

namespace rafter::mesh {

/// The simplest kind of map that describes each cell, shape (cell). Straight cells count as such even where the
/// geometry degree is high. Two positions are taken as equal when they differ by less than `tolerance` times the cell's
/// size plus the rounding errors of its coordinates.
std::vector<MapKind> map_kinds(const Mesh& mesh, int group, double tolerance);

} // namespace rafter::mesh
