// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/chunk_stages.hpp>
#include <rafter/mesh/map_kinds.hpp>
#include <rafter/mesh/visiting_order.hpp>

namespace rafter::mesh {

namespace {

/// Exterior facets with one of the tags (all facets if there are no tags), for each group of cells.
std::vector<std::vector<FacetRef>> selected_facets(const Mesh& mesh, std::span<const std::int32_t> tags) {
  const auto& surface = mesh.surface();
  std::vector<std::vector<FacetRef>> facets(mesh.groups.size());
  for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i)
    if (tags.empty() || std::find(tags.begin(), tags.end(), surface.exterior_tags[i]) != tags.end())
      facets[surface.exterior_facets[i].group].push_back(surface.exterior_facets[i]);
  return facets;
}

/// Sorts facets of one group into the visiting order of their cells.
void sort_by_cell(const Mesh& mesh, std::int32_t group, std::vector<FacetRef>& facets) {
  if (facets.empty()) return;
  std::vector<std::int32_t> cells;
  for (const auto& facet : facets) // facets are sorted by their cells
    if (cells.empty() || cells.back() != facet.cell) cells.push_back(facet.cell);
  const auto order = VisitingOrder(mesh, group).of_cells(std::move(cells));
  std::vector<std::int32_t> rank(mesh.groups[static_cast<std::size_t>(group)].tags.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::int32_t>(i);
  std::sort(facets.begin(), facets.end(), [&](const FacetRef& a, const FacetRef& b) {
    return std::tie(rank[a.cell], a.facet) < std::tie(rank[b.cell], b.facet);
  });
}

/// The facets of a group that a block holds.
using BlockKey = std::pair<element::Shape, MapKind>;
/// Cells behind facets, shape (local number of the facet).
using CellsByFacet = std::vector<std::vector<std::int32_t>>;

FacetBlock make_block(const Mesh& mesh, std::int32_t group, const BlockKey& key, const CellsByFacet& cells,
                      int cells_per_batch) {
  FacetBlock block{.group = group,
                   .shape = mesh.groups[static_cast<std::size_t>(group)].shape,
                   .local_facets = {},
                   .map = key.second,
                   .cells = {},
                   .facets = {},
                   .num_active = {}};
  for (int facet = 0; facet < element::num_facets(block.shape); ++facet) {
    if (element::facet_shape(block.shape, facet) != key.first) continue;
    const auto position = static_cast<std::int32_t>(block.local_facets.size());
    block.local_facets.push_back(facet);
    const auto& of_facet = cells[static_cast<std::size_t>(facet)];
    const auto padded = padded_to_batches(of_facet, cells_per_batch);
    block.cells.insert(block.cells.end(), padded.begin(), padded.end());
    for (auto rest = static_cast<std::int32_t>(of_facet.size()); rest > 0; rest -= cells_per_batch) {
      block.facets.push_back(position);
      block.num_active.push_back(std::min(rest, cells_per_batch));
    }
    block.num_facets += static_cast<std::int32_t>(of_facet.size());
  }
  block.num_batches = static_cast<std::int32_t>(block.facets.size());
  return block;
}

} // namespace

FacetBatches make_facet_batches(const Mesh& mesh, std::span<const std::int32_t> tags, const BatchOptions& options) {
  require_valid(options);
  FacetBatches batches{.cells_per_batch = options.cells_per_batch};
  auto facets = selected_facets(mesh, tags);
  for (std::size_t g = 0; g < facets.size(); ++g) {
    if (facets[g].empty()) continue;
    const auto group = static_cast<std::int32_t>(g);
    const auto kinds = map_kinds(mesh, group, options.affine_tolerance);
    sort_by_cell(mesh, group, facets[g]);
    const auto shape = mesh.groups[g].shape;
    std::map<BlockKey, CellsByFacet> cells;
    for (const auto& facet : facets[g]) {
      auto& of_block = cells[{element::facet_shape(shape, facet.facet), kinds[facet.cell]}];
      of_block.resize(static_cast<std::size_t>(element::num_facets(shape)));
      of_block[static_cast<std::size_t>(facet.facet)].push_back(facet.cell);
    }
    for (const auto& [key, of_block] : cells)
      batches.blocks.push_back(make_block(mesh, group, key, of_block, options.cells_per_batch));
  }
  std::vector<BatchedBlock> views;
  for (const auto& block : batches.blocks) views.push_back({block.group, block.num_batches, block.cells});
  batches.stages = make_stages(mesh, views, options);
  return batches;
}

} // namespace rafter::mesh
