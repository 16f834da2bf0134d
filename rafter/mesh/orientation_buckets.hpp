// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The cells in another order: batch after batch of `cells_per_batch` simplices whose vertex numbers ascend alike, so
/// that they see all their edges and faces in the same orientations and kernels gather from them as whole vectors. A
/// cell waits for its like at most 64 batches long; those that waited in vain are batched as they come. Cells of other
/// shapes keep their order, and so do cells that are all alike.
std::vector<std::int32_t> in_orientation_buckets(const CellGroup& group, std::span<const std::int32_t> cells,
                                                 int cells_per_batch);

} // namespace rafter::mesh
