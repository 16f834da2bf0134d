// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Patches: so many quadrilaterals or hexahedra along each axis, whose local axes are parallel, so that their vertices
/// form a lattice: clusters of a structured part, of a box as well as of what refinement makes of one cell.
namespace rafter::mesh {

/// Cells that form patches of `width` along each axis, shape (patch, child), children in the order of the lattice,
/// first axis fastest. Of `cells` alone, in the order of their first children; every cell is in one at most. Cells of
/// other shapes form none.
std::vector<std::int32_t> find_patches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int width);

/// The cells in batches of whole patches, `cells_per_batch` a multiple of their cells, in the order of their first
/// cells; cells without a patch, and patches that fill no batch, stand in batches of their own, the last of them
/// perhaps not full. With the cells: which batches are patches, cells of shape (child, patch); empty if none is.
std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>>
in_patched_batches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int cells_per_batch, int width);

} // namespace rafter::mesh
