// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/cell_batches.hpp>

#include <array>
#include <tuple>

#include <rafter/mesh/chunk_stages.hpp>
#include <rafter/mesh/map_kinds.hpp>
#include <rafter/mesh/orientation_buckets.hpp>
#include <rafter/mesh/patches.hpp>
#include <rafter/mesh/visiting_order.hpp>

namespace rafter::mesh {

CellBatches make_cell_batches(const Mesh& mesh, const BatchOptions& options) {
  require_valid(options);
  CellBatches batches{.cells_per_batch = options.cells_per_batch, .patch_width = options.patch_width};
  if (options.cells_per_batch % cells_per_patch(options.patch_width, mesh.tdim) != 0) batches.patch_width = 1;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto group = static_cast<std::int32_t>(g);
    const auto kinds = map_kinds(mesh, group, options.affine_tolerance);
    std::array<std::vector<std::int32_t>, map_kinds_in_order.size()> cells_of_kind;
    for (const auto cell : visiting_order(mesh, group)) cells_of_kind[static_cast<int>(kinds[cell])].push_back(cell);
    for (const auto kind : map_kinds_in_order) {
      auto& cells = cells_of_kind[static_cast<int>(kind)];
      if (cells.empty()) continue;
      CellBlock block{group, mesh.groups[g].shape, kind, static_cast<std::int32_t>(cells.size()), 0, {}, {}};
      if (options.has_orientation_buckets) cells = in_orientation_buckets(mesh, group, cells, options.cells_per_batch);
      if (batches.patch_width > 1)
        std::tie(cells, block.are_patches) =
            in_patched_batches(mesh, group, cells, options.cells_per_batch, batches.patch_width);
      block.cells = padded_to_batches(std::move(cells), options.cells_per_batch);
      block.num_batches = static_cast<std::int32_t>(block.cells.size() / options.cells_per_batch);
      batches.blocks.push_back(std::move(block));
    }
  }
  std::vector<BatchedBlock> views;
  for (const auto& block : batches.blocks) views.push_back({block.group, block.num_batches, block.cells});
  batches.stages = make_stages(mesh, views, options);
  return batches;
}

} // namespace rafter::mesh
