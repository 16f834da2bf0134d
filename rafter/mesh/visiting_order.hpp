// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The cells of a group along a Hilbert curve through their centroids. The lattice of the curve is scaled by the cells'
/// median extents, so that on a structured part runs of 2^dim cells are 2 x 2 x 2 clusters; the children of one refined
/// cell always stay together.
std::vector<std::int32_t> visiting_order(const Mesh& mesh, int group);

} // namespace rafter::mesh
