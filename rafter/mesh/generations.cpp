// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/generations.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <rafter/base/error.hpp>
#include <rafter/mesh/box.hpp>
#include <rafter/mesh/tag_uses.hpp>

namespace rafter::mesh {
namespace {

/// Says whether boxes of this shape are refinements of boxes with fewer cells.
bool has_similar_children(const BoxOptions& box) {
  return box.shape != "mixed" && box.shape != element::name(element::Shape::pyramid);
}

/// The axes along which the cells of a box have short edges; all of them where cells are not halved along these alone.
Axes short_axes(const BoxOptions& box) {
  constexpr Axes all{};
  const auto dim = box.cells.size();
  const auto size = box_size(box);
  if (box.shape == element::name(element::Shape::triangle) || box.shape == element::name(element::Shape::tetrahedron))
    return all;
  std::vector<double> lengths;
  for (std::size_t d = 0; d < dim; ++d) lengths.push_back(size[d] / box.cells[d]);
  if (dim == 3 && box.shape == element::name(element::Shape::prism))
    lengths[0] = lengths[1] = std::min(lengths[0], lengths[1]);
  // Twice as long, up to rounding, is long.
  const double longest = 2 * (1 - 1e-9) * *std::ranges::min_element(lengths);
  Axes result{0};
  for (std::size_t d = 0; d < dim; ++d)
    if (lengths[d] < longest) result.bits |= static_cast<std::uint8_t>(1 << d);
  return result;
}

/// The axes along which a box is halved; none where it cannot be. If cells are stretched, or were before some of the
/// halvings (`is_after_partial`), short axes with an odd number of cells stay as they are beside others that are
/// halved.
std::optional<Axes> next_axes(const BoxOptions& box, BoxCoarsening coarsening, bool is_after_partial) {
  const auto axes = coarsening == BoxCoarsening::short_edges ? short_axes(box) : Axes{};
  const auto is_even = [&](std::size_t d) { return box.cells[d] % 2 == 0; };
  const bool has_triangles = box.cells.size() == 3 && box.shape == element::name(element::Shape::prism);
  Axes even{0};
  bool are_all_even = true;
  for (std::size_t d = 0; d < box.cells.size(); ++d) {
    if (!axes.has(static_cast<int>(d))) continue;
    // Both axes of the triangles of prisms are halved, or none.
    const bool halves = has_triangles && d < 2 ? is_even(0) && is_even(1) : is_even(d);
    if (halves) even.bits |= static_cast<std::uint8_t>(1 << d);
    are_all_even = are_all_even && halves;
  }
  if (are_all_even) return axes;
  const bool is_stretched = is_after_partial || !axes.has_all(static_cast<int>(box.cells.size()));
  return is_stretched && even.bits != 0 ? std::optional(even) : std::nullopt;
}

bool is_refinable(const BoxOptions& box, int times) {
  constexpr int max_times = 30;
  return times >= 0 && times <= max_times && std::ranges::all_of(box.cells, [times](int cells) {
           return cells <= std::numeric_limits<int>::max() >> times;
         });
}

} // namespace

Generations box_generations(const BoxOptions& options, int times, BoxCoarsening coarsening) {
  require_valid(options);
  // A box that cannot be refined is refused below.
  if (!has_similar_children(options) || !is_refinable(options, times))
    return refined_generations(std::make_shared<const Mesh>(make_box(options)), times);
  auto box = options;
  for (int& cells : box.cells) cells <<= times;
  std::vector<Axes> steps;
  bool is_after_partial = false;
  while (const auto axes = next_axes(box, coarsening, is_after_partial)) {
    for (std::size_t d = 0; d < box.cells.size(); ++d)
      if (axes->has(static_cast<int>(d))) box.cells[d] /= 2;
    is_after_partial = is_after_partial || !axes->has_all(static_cast<int>(box.cells.size()));
    steps.push_back(*axes);
  }
  std::ranges::reverse(steps);
  return refined_generations(std::make_shared<const Mesh>(make_box(box)), steps);
}

int num_halved_axes(const BoxOptions& options, BoxCoarsening coarsening) {
  require_valid(options);
  const auto axes = has_similar_children(options) ? next_axes(options, coarsening, false) : std::nullopt;
  int result = 0;
  for (std::size_t d = 0; axes && d < options.cells.size(); ++d) result += axes->has(static_cast<int>(d)) ? 1 : 0;
  return result;
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
      for (const auto tag : tags_for(mesh, name, TagUse::periodic)) tags.insert(tag);
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
