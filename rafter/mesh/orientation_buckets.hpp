// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Sorts simplices by the order in which their global vertex numbers ascend, and returns them in batches of
/// `cells_per_batch` cells of one order. Cells of such a batch see all their edges and faces in the same orientations,
/// so kernels gather from them as whole vectors. A cell waits for others of its order for at most 64 batches; cells
/// whose batch is not full until then form batches with each other. Cells of other shapes keep their order.
std::vector<std::int32_t> in_orientation_buckets(const Mesh& mesh, int group, std::span<const std::int32_t> cells,
                                                 int cells_per_batch);

} // namespace rafter::mesh
