// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

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
    std::map<std::pair<int, MapKind>, std::vector<std::int32_t>> cells;
    for (const auto& facet : facets[g]) cells[{facet.facet, kinds[facet.cell]}].push_back(facet.cell);
    for (auto& [key, list] : cells) {
      FacetBlock block{group, mesh.groups[g].shape, key.first, key.second, static_cast<std::int32_t>(list.size()), 0,
                       {}};
      block.cells = padded_to_batches(std::move(list), options.cells_per_batch);
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
