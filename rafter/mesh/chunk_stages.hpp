// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/cell_batches.hpp>

namespace rafter::mesh {

/// The cells of a block of cells or of facets in batches, shape (batch, cell).
struct BatchedBlock {
  std::int32_t group = 0, num_batches = 0;
  std::span<const std::int32_t> cells;
  std::span<const std::uint8_t> are_patches = {}; ///< see CellBlock::are_patches
};

/// Fills up cells to whole batches of `cells_per_batch`, by repeating the last cell.
std::vector<std::int32_t> padded_to_batches(std::vector<std::int32_t> cells, int cells_per_batch);

/// Cuts each block into chunks and colours them, so that chunks of the same stage share no vertex. There are few
/// stages, of about equal work; chunks within a stage are in visiting order. Patches have `patch_width` cells along
/// each axis.
std::vector<std::vector<Chunk>> make_stages(const Mesh& mesh, std::span<const BatchedBlock> blocks,
                                            const BatchOptions& options, int patch_width = 1);

/// Throws InputError for options out of range.
void require_valid(const BatchOptions& options);

} // namespace rafter::mesh
