// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/connected_components.hpp>

#include <algorithm>
#include <span>

#include <rafter/mesh/disjoint_sets.hpp>

namespace rafter::mesh {
namespace {

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::size_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(cell * n, n);
}

} // namespace

CellMask make_cell_mask(const Mesh& mesh, bool value) {
  CellMask mask;
  for (const auto& group : mesh.groups) mask.emplace_back(group.tags.size(), value ? 1 : 0);
  return mask;
}

ConnectedComponents connected_components(const Mesh& mesh, const CellMask& cells) {
  DisjointSets vertices(mesh.num_vertices);
  for (const auto& facet : mesh.periodic_facets)
    for (std::size_t i = 0; i < facet.from.size() && facet.from[i] >= 0; ++i)
      vertices.unite(facet.from[i], facet.to[i]);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::size_t cell = 0; cell < cells[g].size(); ++cell) {
      if (cells[g][cell] == 0) continue;
      const auto of_cell = cell_vertices(mesh.groups[g], cell);
      for (const auto vertex : of_cell.subspan(1)) vertices.unite(of_cell[0], vertex);
    }

  ConnectedComponents result;
  // Number of the connected component with this representative.
  std::vector<std::int32_t> number(static_cast<std::size_t>(mesh.num_vertices), -1);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    auto& of_cell = result.of_cell.emplace_back(cells[g].size(), -1);
    for (std::size_t cell = 0; cell < of_cell.size(); ++cell) {
      if (cells[g][cell] == 0) continue;
      auto& connected_component =
          number[static_cast<std::size_t>(vertices.find(cell_vertices(mesh.groups[g], cell)[0]))];
      if (connected_component < 0) connected_component = result.count++;
      of_cell[cell] = connected_component;
    }
  }
  result.translations.resize(static_cast<std::size_t>(result.count));
  for (const auto& facet : mesh.periodic_facets) {
    const auto connected_component = number[static_cast<std::size_t>(vertices.find(facet.from[0]))];
    if (connected_component < 0) continue;
    auto& known = result.translations[static_cast<std::size_t>(connected_component)];
    if (std::ranges::find(known, facet.translation) == known.end()) known.push_back(facet.translation);
  }
  return result;
}

} // namespace rafter::mesh
