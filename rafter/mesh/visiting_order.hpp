// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The cells of a group in the order of a Hilbert curve through their centroids. The lattice of the curve is scaled by
/// the cells' median extents, so that in structured parts successive 2^dim cells are 2 x 2 x 2 clusters (2 x 2 in 2D).
/// The children of one refined cell always stay together.
std::vector<std::int32_t> visiting_order(const Mesh& mesh, int group);

/// Returns some different cells of the group in that order.
std::vector<std::int32_t> in_visiting_order(const Mesh& mesh, int group, std::vector<std::int32_t> cells);

} // namespace rafter::mesh
