// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Sorts simplices into buckets by the order in which their global vertex numbers ascend, and returns them batch after
/// batch of `cells_per_batch` cells of one bucket: these see all their edges and faces in the same orientations, so
/// kernels gather from them as whole vectors. A cell stays in its bucket for at most 64 batches; cells whose bucket did
/// not fill up until then form batches in the order in which they came. Cells of other shapes keep their order.
std::vector<std::int32_t> in_orientation_buckets(const Mesh& mesh, int group, std::span<const std::int32_t> cells,
                                                 int cells_per_batch);

} // namespace rafter::mesh
