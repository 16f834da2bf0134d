// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The largest ratio, over the cells of this process, of the mean lengths of a cell's edges along two of its axes: 1
/// for squares and cubes. Vertices alone count, so that curved cells have the edges of straight ones. Cells that are no
/// product of intervals have no axes, and intervals have one: they count as 1.
double largest_stretching(const Mesh& mesh);

} // namespace rafter::mesh
