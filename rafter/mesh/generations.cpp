// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/generations.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include <rafter/base/error.hpp>

namespace rafter::mesh {
namespace {

/// Says whether the refinement of a box of half as many cells per direction has the cells of this one.
bool has_coarser(const BoxOptions& options) {
  return options.shape != "mixed" && options.shape != element::name(element::Shape::pyramid) &&
         std::ranges::all_of(options.cells, [](int n) { return n % 2 == 0; });
}

} // namespace

Generations box_generations(const BoxOptions& options, int times) {
  auto coarsest = options;
  // A box without cells along an axis is refused below.
  const auto has_cells = [](const BoxOptions& box) {
    return std::ranges::all_of(box.cells, [](int n) { return n > 0; });
  };
  for (; !coarsest.cells.empty() && has_cells(coarsest) && has_coarser(coarsest); ++times)
    for (int& n : coarsest.cells) n /= 2;
  return refined_generations(std::make_shared<const Mesh>(make_box(coarsest)), times);
}

namespace {

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::int32_t cell) {
  const auto count = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(static_cast<std::size_t>(cell) * count, count);
}

/// Says whether a cell has vertices on both sides of a pair, so that the periodic mesh would meet it twice.
bool has_cell_across(const Mesh& mesh, const PeriodicPair& pair) {
  const auto& surface = mesh.surface();
  const auto vertices_of = [&](const std::vector<std::string>& names) {
    std::set<std::int32_t> tags, vertices;
    for (const auto& name : names)
      for (const auto tag : mesh.tags_of(name, mesh.tdim - 1)) tags.insert(tag);
    for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i) {
      if (!tags.contains(surface.exterior_tags[i])) continue;
      const auto& facet = surface.exterior_facets[i];
      const auto& group = mesh.groups[static_cast<std::size_t>(facet.group)];
      const auto of_cell = cell_vertices(group, facet.cell);
      for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, facet.facet))
        vertices.insert(of_cell[static_cast<std::size_t>(v)]);
    }
    return vertices;
  };
  const auto from = vertices_of(pair.from), to = vertices_of(pair.to);
  for (const auto& group : mesh.groups)
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto vertices = cell_vertices(group, cell);
      const auto touches = [&vertices](const auto& side) {
        return std::ranges::any_of(vertices, [&side](std::int32_t v) { return side.contains(v); });
      };
      if (touches(from) && touches(to)) return true;
    }
  return false;
}

} // namespace

Generations periodic_generations(const Generations& generations, const std::vector<PeriodicPair>& pairs) {
  Generations result{.meshes = {std::make_shared<const Mesh>(generations.finest()->periodic(pairs))},
                     .refinements = {}};
  for (auto l = generations.refinements.size(); l > 0; --l) {
    auto refinement = generations.refinements[l - 1];
    if (std::ranges::any_of(pairs, [&](const auto& pair) { return has_cell_across(*refinement.coarse, pair); })) break;
    refinement.coarse = std::make_shared<const Mesh>(refinement.coarse->periodic(pairs));
    result.meshes.push_back(refinement.coarse);
    result.refinements.push_back(std::move(refinement));
  }
  std::ranges::reverse(result.meshes);
  std::ranges::reverse(result.refinements);
  return result;
}

} // namespace rafter::mesh
