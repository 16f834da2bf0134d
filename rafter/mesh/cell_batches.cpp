// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/cell_batches.hpp>

#include <array>
#include <tuple>

#include <rafter/mesh/chunk_stages.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/map_kinds.hpp>
#include <rafter/mesh/orientation_buckets.hpp>
#include <rafter/mesh/patches.hpp>
#include <rafter/mesh/visiting_order.hpp>

namespace rafter::mesh {
namespace {

/// Makes the blocks of a group, one per map kind, from its cells on the interface or from the others.
void add_blocks(const Mesh& mesh, std::int32_t group, const BatchOptions& options, bool is_interface,
                CellBatches& batches) {
  const auto& all = mesh.groups[static_cast<std::size_t>(group)];
  const auto kinds = map_kinds(mesh, group, options.affine_tolerance);
  // Patches number what their cells share as one, of which other processes may have a part.
  const bool has_patches =
      batches.patch_width > 1 && !is_interface && element::is_tensor(all.shape) && element::dimension(all.shape) > 1;
  std::array<std::vector<std::int32_t>, map_kinds_in_order.size()> cells_of_kind;
  for (std::int32_t cell = 0; cell < all.num_cells(); ++cell)
    if (is_interface_cell(mesh, group, cell) == is_interface)
      cells_of_kind[static_cast<std::size_t>(kinds[static_cast<std::size_t>(cell)])].push_back(cell);
  for (const auto kind : map_kinds_in_order) {
    auto& cells = cells_of_kind[static_cast<std::size_t>(kind)];
    if (cells.empty()) continue;
    CellBlock block{group, all.shape, kind, static_cast<std::int32_t>(cells.size()), 0, {}, {}};
    if (has_patches) {
      std::tie(cells, block.are_patches) =
          in_patched_batches(mesh, group, cells, options.cells_per_batch, batches.patch_width);
    } else {
      cells = VisitingOrder(mesh, group).of_cells(std::move(cells));
      if (options.has_orientation_buckets) cells = in_orientation_buckets(mesh, group, cells, options.cells_per_batch);
    }
    block.cells = padded_to_batches(std::move(cells), options.cells_per_batch);
    block.num_batches =
        static_cast<std::int32_t>(block.cells.size() / static_cast<std::size_t>(options.cells_per_batch));
    batches.blocks.push_back(std::move(block));
  }
}

/// Appends the stages of the blocks from `first` on.
void add_stages(const Mesh& mesh, const BatchOptions& options, std::size_t first, CellBatches& batches) {
  std::vector<BatchedBlock> views;
  for (std::size_t b = first; b < batches.blocks.size(); ++b) {
    const auto& block = batches.blocks[b];
    views.push_back({block.group, block.num_batches, block.cells, block.are_patches});
  }
  for (auto& stage : make_stages(mesh, views, options, batches.patch_width)) {
    for (auto& chunk : stage) chunk.block += static_cast<std::int32_t>(first);
    batches.stages.push_back(std::move(stage));
  }
}

} // namespace

CellBatches make_cell_batches(const Mesh& mesh, const BatchOptions& options) {
  require_valid(options);
  CellBatches batches{.cells_per_batch = options.cells_per_batch, .patch_width = options.patch_width};
  if (options.cells_per_batch % cells_per_patch(options.patch_width, mesh.tdim) != 0) batches.patch_width = 1;
  const auto num_groups = static_cast<std::int32_t>(mesh.groups.size());
  for (std::int32_t group = 0; group < num_groups; ++group) add_blocks(mesh, group, options, false, batches);
  add_stages(mesh, options, 0, batches);
  batches.num_interior_stages = batches.stages.size();
  if (mesh.distribution == nullptr) return batches;
  const std::size_t first = batches.blocks.size();
  for (std::int32_t group = 0; group < num_groups; ++group) add_blocks(mesh, group, options, true, batches);
  add_stages(mesh, options, first, batches);
  return batches;
}

} // namespace rafter::mesh
