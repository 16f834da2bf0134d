// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Finds patches: groups of `width` quadrilaterals or hexahedra along each axis with parallel local axes, so that their
/// vertices form a lattice. They occur in structured parts of meshes, such as a box or the descendants of a refined
/// cell.
namespace rafter::mesh {

/// A vertex of a patch: a child and its corner there.
struct PatchPoint {
  int child = 0, corner = 0;
  bool operator==(const PatchPoint&) const = default;
};
/// Returns all vertices of a patch of `width` cells along each axis, each once, in the order of their lattice, first
/// axis fastest.
std::vector<PatchPoint> patch_points(int dim, int width);

/// The cells that form patches of `width` cells along each axis, shape (patch, child), children in the order of the
/// lattice, first axis fastest. Patches consist of cells in `cells` alone; a cell is in at most one patch. Structured
/// parts are searched from their lower ends on, in the order of their first cells in `cells`. Shapes other than
/// quadrilaterals and hexahedra form none.
std::vector<std::int32_t> find_patches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int width);

/// Sorts different cells into batches of whole patches; `cells_per_batch` must be a multiple of the cells per patch.
/// Batches are in visiting order (visiting_order.hpp), in which a patch takes part as one cell. Cells without a patch,
/// and patches that fill no batch, come in batches of their own, of which the last need not be full. The second result
/// says which batches consist of patches, with cells in the order (child, patch); it is empty if none does.
std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>>
in_patched_batches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int cells_per_batch, int width);

} // namespace rafter::mesh
