// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/entity_matching.hpp>
#include <rafter/mesh/identification.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/parallel_neighbours.hpp>

namespace rafter::mesh {

namespace {

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::int32_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(static_cast<std::size_t>(cell) * n, n);
}

/// Throws InputError where vertices of a cell do not exist, or are equal.
void check_vertices(const Mesh& mesh, std::int32_t group_number, std::int32_t cell) {
  const auto& group = mesh.groups[static_cast<std::size_t>(group_number)];
  const auto v = cell_vertices(group, cell);
  // Ascending numbers, as structured meshes have them, are different ones.
  if (v.front() >= 0 && v.back() < mesh.num_vertices && std::ranges::adjacent_find(v, std::greater_equal()) == v.end())
    return;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] < 0 || v[i] >= mesh.num_vertices)
      throw base::InputError(fmt::format("{}{} {} has vertex {}; the mesh has vertices 0 to {}", prefix(mesh),
                                         element::name(group.shape), cell, v[i], mesh.num_vertices - 1));
    for (std::size_t j = 0; j < i; ++j)
      if (v[i] == v[j])
        throw base::InputError(fmt::format("{}{} has the same vertex twice: it is degenerate", prefix(mesh),
                                           describe_cell(mesh, group_number, cell)));
  }
}

[[noreturn]] void fail_wrapped(const Mesh& mesh, std::int32_t group, std::int32_t cell, std::size_t a, std::size_t b) {
  std::string places;
  if (!mesh.points.empty()) {
    const auto x = cell_vertex_coordinates(mesh, group, cell);
    const auto dim = static_cast<std::size_t>(mesh.gdim);
    const auto at = [&](std::size_t v) { return describe_point(std::span(x).subspan(v * dim, dim)); };
    places = fmt::format(", {} and {}", at(a), at(b));
  }
  throw base::InputError(fmt::format(
      "{}{} reaches from one side of the period to the other: two of its vertices{} are identified; at "
      "least two cells must lie between identified facets: refine the mesh before its facets are identified",
      prefix(mesh), describe_cell(mesh, group, cell), places));
}

/// The vertices of a cell differ also where some are identified.
void check_identified(const Mesh& mesh, const VertexOrder& order, std::int32_t group, std::int32_t cell) {
  const auto v = cell_vertices(mesh.groups[static_cast<std::size_t>(group)], cell);
  const auto rank = [&](std::size_t i) { return order.ranks[static_cast<std::size_t>(v[i])]; };
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (rank(i) == rank(j)) fail_wrapped(mesh, group, cell, j, i);
}

template <class Check> void for_cells(const Mesh& mesh, const Check& check) {
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    base::Parts(mesh.groups[g].num_cells()).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t c = begin; c < end; ++c) check(static_cast<std::int32_t>(g), static_cast<std::int32_t>(c));
    });
}

bool have_same_vertices(const Mesh& mesh, const FacetRef& a, const FacetRef& b) {
  if (a.group != b.group) return false;
  const auto& group = mesh.groups[static_cast<std::size_t>(a.group)];
  const auto va = cell_vertices(group, a.cell), vb = cell_vertices(group, b.cell);
  const auto sum = [](std::span<const std::int32_t> v) { return std::accumulate(v.begin(), v.end(), std::int64_t{0}); };
  if (sum(va) != sum(vb)) return false; // most: spares them a comparison of all with all
  return std::is_permutation(va.begin(), va.end(), vb.begin());
}

[[noreturn]] void fail_crowded(const Mesh& mesh, const std::vector<FacetRef>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += (i > 0 ? ", " : "") + describe_cell(mesh, cells[i].group, cells[i].cell);
  const auto& group = mesh.groups[static_cast<std::size_t>(cells[0].group)];
  std::vector<std::int32_t> vertices;
  for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, cells[0].facet))
    vertices.push_back(cell_vertices(group, cells[0].cell)[static_cast<std::size_t>(v)]);
  std::sort(vertices.begin(), vertices.end());
  throw base::InputError(
      fmt::format("{}the facet with vertices {} belongs to {} cells ({}); at most two can share a facet", prefix(mesh),
                  fmt::join(vertices, ", "), cells.size(), text));
}

[[noreturn]] void fail_duplicate(const Mesh& mesh, const FacetRef& a, const FacetRef& b) {
  throw base::InputError(fmt::format("{}{} and {} have the same vertices: duplicate cells", prefix(mesh),
                                     describe_cell(mesh, a.group, a.cell), describe_cell(mesh, b.group, b.cell)));
}

[[noreturn]] void fail_sides(const Mesh& mesh, const std::vector<EntitySide>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (have_same_vertices(mesh, cells[i], cells[j])) fail_duplicate(mesh, cells[j], cells[i]);
  fail_crowded(mesh, cells);
}

/// Holds what is known of the facets of all cells: those of one cell, and the cells of those that were looked up.
struct FacetSides {
  /// The sides of a facet that was looked up, ascending; none: no cell has it.
  struct Found {
    std::optional<EntitySide> first, second;
  };
  std::vector<EntitySide> alone; ///< facets with one cell, ascending
  std::vector<Found> of_lookups;
  bool is_alone(const EntitySide& side) const { return std::ranges::binary_search(alone, side); }
  std::size_t place(const EntitySide& side) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(alone, side) - alone.begin());
  }
};

/// Marks vertices from several threads.
class VertexMarks {
public:
  explicit VertexMarks(std::int32_t num_vertices) : is_marked_(static_cast<std::size_t>(num_vertices), 0) {}
  void mark(std::int32_t vertex) {
    std::atomic_ref(is_marked_[static_cast<std::size_t>(vertex)]).store(1, std::memory_order_relaxed);
  }
  std::vector<std::uint8_t> take() && { return std::move(is_marked_); }

private:
  std::vector<std::uint8_t> is_marked_;
};

bool has_parallel_axes(const CellGroup& group) {
  return element::is_tensor(group.shape) && element::dimension(group.shape) > 1;
}

/// Marks the vertices of the facets that do not lie between two cells with parallel axes. If several cells see the same
/// facet of another one, all but the first of them mark its vertices.
void mark_unpaired(const Mesh& mesh, std::int32_t group_number, VertexMarks& marks) {
  const auto& group = mesh.groups[static_cast<std::size_t>(group_number)];
  const ParallelNeighbours neighbours(mesh, group_number, ParallelNeighbours::Sides::above);
  const auto mark = [&](std::int32_t cell, int axis, int side) {
    const auto vertices = cell_vertices(group, cell);
    for (std::size_t v = 0; v < vertices.size(); ++v)
      if (static_cast<int>(v >> axis & 1) == side) marks.mark(vertices[v]);
  };
  // A cell has a bit for each axis along which it is seen from below.
  std::vector<std::uint8_t> are_seen(static_cast<std::size_t>(group.num_cells()));
  const auto is_seen_first = [&](std::int32_t cell, int axis) {
    const auto bit = static_cast<std::uint8_t>(1 << axis);
    return (std::atomic_ref(are_seen[static_cast<std::size_t>(cell)]).fetch_or(bit, std::memory_order_relaxed) & bit) ==
           0;
  };
  const base::Parts parts(group.num_cells());
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto cell = static_cast<std::int32_t>(begin); cell < end; ++cell)
      for (int axis = 0; axis < neighbours.dim(); ++axis)
        if (const auto above = neighbours.above(cell, axis); above < 0 || !is_seen_first(above, axis))
          mark(cell, axis, 1);
  });
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto cell = static_cast<std::int32_t>(begin); cell < end; ++cell)
      for (int axis = 0; axis < neighbours.dim(); ++axis)
        if ((are_seen[static_cast<std::size_t>(cell)] >> axis & 1) == 0) mark(cell, axis, 0);
  });
}

/// Returns marks of the vertices of all facets that must be matched: most facets of structured parts lie between two
/// cells with parallel axes, which find each other in less time. If a facet has too many cells, not all of them find
/// another one, or the facets around it are not all between two such cells, so that its vertices are marked. Empty: all
/// vertices are marked.
std::vector<std::uint8_t> vertices_to_match(const Mesh& mesh, std::span<const EntityKey> lookups) {
  if (std::ranges::none_of(mesh.groups, has_parallel_axes)) return {};
  VertexMarks marks(mesh.num_vertices);
  for (const auto& key : lookups)
    for (const auto vertex : key)
      if (vertex != key_padding) marks.mark(vertex);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    if (has_parallel_axes(group))
      mark_unpaired(mesh, static_cast<std::int32_t>(g), marks);
    else
      base::Parts(std::ssize(group.vertices)).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) marks.mark(group.vertices[static_cast<std::size_t>(i)]);
      });
  }
  return std::move(marks).take();
}

/// Throws InputError for facets of more than two cells, and for equal cells.
FacetSides find_sides(const Mesh& mesh, std::span<const EntityKey> lookups) {
  const int dim = mesh.tdim - 1;
  struct Block {
    std::vector<EntitySide> alone;
    std::vector<EntitySide> wrong; ///< sides of the first facet with too many, or of equal cells
  };
  std::vector<Block> blocks(num_entity_blocks(mesh, dim));
  FacetSides result{.alone = {}, .of_lookups = std::vector<FacetSides::Found>(lookups.size())};
  // Faults are found at the third cell of a facet, or at the second where it equals the first.
  const auto found_at = [](const std::vector<EntitySide>& sides) { return sides.size() > 2 ? sides[2] : sides.back(); };
  const auto visit = [&](std::span<const EntitySide> sides, std::size_t b) {
    auto& block = blocks[b];
    const auto end = std::ranges::find(sides, group_of_lookup, &EntitySide::group);
    const auto cells = std::span(sides.begin(), end);
    if (cells.size() == 1) block.alone.push_back(cells[0]);
    if (cells.size() > 2 || (cells.size() == 2 && cells[1].facet == 0 && have_same_vertices(mesh, cells[0], cells[1])))
      if (const std::vector<EntitySide> all(cells.begin(), cells.end());
          block.wrong.empty() || found_at(all) < found_at(block.wrong))
        block.wrong = all;
    if (!cells.empty())
      for (const auto& lookup : sides.subspan(cells.size())) {
        auto& found = result.of_lookups[static_cast<std::size_t>(lookup.cell)];
        found.first = cells[0];
        if (cells.size() > 1) found.second = cells[1];
      }
  };
  match_entities(mesh, dim, lookups, visit, vertices_to_match(mesh, lookups));
  std::vector<EntitySide> wrong;
  for (const auto& block : blocks) {
    result.alone.insert(result.alone.end(), block.alone.begin(), block.alone.end());
    if (!block.wrong.empty() && (wrong.empty() || found_at(block.wrong) < found_at(wrong))) wrong = block.wrong;
  }
  if (!wrong.empty()) fail_sides(mesh, wrong);
  std::ranges::sort(result.alone);
  return result;
}

std::string tag_text(const Mesh& mesh, const TaggedFacet& facet) {
  return mesh.physical_groups.text(mesh.tdim - 1, facet.tag);
}

EntityKey tagged_key(const Mesh& mesh, const TaggedFacet& facet) {
  std::vector<std::int32_t> vertices;
  for (const auto v : facet.vertices) {
    if (v == -1) break;
    if (v < 0 || v >= mesh.num_vertices)
      throw base::InputError(fmt::format("{}a facet with tag {} has vertex {}; the mesh has vertices 0 to {}",
                                         prefix(mesh), tag_text(mesh, facet), v, mesh.num_vertices - 1));
    vertices.push_back(v);
  }
  if (vertices.empty())
    throw base::InputError(fmt::format("{}a facet with tag {} has no vertices", prefix(mesh), tag_text(mesh, facet)));
  return make_entity_key(vertices);
}

[[noreturn]] void fail_unmatched(const Mesh& mesh, const TaggedFacet& facet) {
  std::string vertices;
  for (const auto v : facet.vertices)
    if (v != -1) vertices += (vertices.empty() ? "" : ", ") + std::to_string(v);
  throw base::InputError(fmt::format("{}the facet with tag {} and vertices {} is not a facet of any cell", prefix(mesh),
                                     tag_text(mesh, facet), vertices));
}

[[noreturn]] void fail_no_facet(const Mesh& mesh, std::span<const std::int32_t> vertices) {
  throw base::InputError(fmt::format("{}the periodic facet with vertices {} is not a facet of any cell", prefix(mesh),
                                     fmt::join(vertices, ", ")));
}

/// Returns the keys of the tagged facets, then those of both sides of each periodic facet.
std::vector<EntityKey> asked_facets(const Mesh& mesh) {
  std::vector<EntityKey> keys;
  for (const auto& facet : mesh.tagged_facets) keys.push_back(tagged_key(mesh, facet));
  for (const auto& facet : mesh.periodic_facets)
    for (const auto& side : {facet.from, facet.to}) {
      const auto vertices = vertices_of(side);
      if (vertices.empty() || !std::ranges::all_of(vertices, [&](auto v) { return v >= 0 && v < mesh.num_vertices; }))
        fail_no_facet(mesh, vertices);
      keys.push_back(make_entity_key(vertices));
    }
  return keys;
}

/// Returns the tags of the facets of one cell, shape (facet).
std::vector<std::int32_t> facet_tags(const Mesh& mesh, const FacetSides& facets) {
  std::vector<std::int32_t> tags(facets.alone.size(), 0);
  for (std::size_t i = 0; i < mesh.tagged_facets.size(); ++i) {
    const auto& side = facets.of_lookups[i].first;
    if (!side) fail_unmatched(mesh, mesh.tagged_facets[i]);
    if (!facets.is_alone(*side)) continue;
    auto& tag = tags[facets.place(*side)];
    if (tag == 0) tag = mesh.tagged_facets[i].tag; // a facet that is listed twice keeps its first tag
  }
  return tags;
}

/// Says of each facet of one cell whether periodic facets identify it with another, shape (facet).
std::vector<bool> find_periodic(const Mesh& mesh, const FacetSides& facets) {
  std::vector<bool> result(facets.alone.size());
  std::size_t lookup = mesh.tagged_facets.size();
  for (const auto& facet : mesh.periodic_facets)
    for (const auto& padded : {facet.from, facet.to}) {
      const auto& side = facets.of_lookups[lookup++].first;
      if (!side) fail_no_facet(mesh, vertices_of(padded));
      if (!facets.is_alone(*side))
        throw base::InputError(fmt::format("{}the periodic facet with vertices {} lies between two cells", prefix(mesh),
                                           fmt::join(vertices_of(padded), ", ")));
      result[facets.place(*side)] = true;
    }
  return result;
}

/// Says whether a cell of another process has the facet, too.
bool is_interface(const Mesh& mesh, const FacetRef& facet) {
  return mesh.distribution != nullptr && std::ranges::binary_search(mesh.distribution->interface_facets, facet);
}

/// Returns the facets with a tag that have a second cell, here or on another process.
std::vector<InnerFacet> find_inner(const Mesh& mesh, const FacetSides& facets) {
  std::vector<InnerFacet> result;
  for (std::size_t i = 0; i < mesh.tagged_facets.size(); ++i) {
    const auto& [first, second] = facets.of_lookups[i];
    const auto tag = mesh.tagged_facets[i].tag;
    if (tag == 0 || (!second && !is_interface(mesh, *first))) continue;
    auto& facet = result.emplace_back(InnerFacet{.first = *first, .tag = tag});
    if (second) facet.second = *second;
  }
  // A facet that is listed twice keeps its first tag.
  std::ranges::stable_sort(result, {}, &InnerFacet::first);
  const auto are_one = [](const InnerFacet& a, const InnerFacet& b) { return a.first == b.first; };
  result.erase(std::unique(result.begin(), result.end(), are_one), result.end());
  return result;
}

std::shared_ptr<const Surface> build_surface(const Mesh& mesh) {
  for_cells(mesh, [&](std::int32_t group, std::int32_t cell) { check_vertices(mesh, group, cell); });
  auto order = order_vertices(mesh);
  if (!order.ranks.empty())
    for_cells(mesh, [&](std::int32_t group, std::int32_t cell) { check_identified(mesh, order, group, cell); });
  auto surface = std::make_shared<Surface>();
  const auto facets = find_sides(mesh, asked_facets(mesh));
  const auto tags = facet_tags(mesh, facets);
  const auto is_periodic = find_periodic(mesh, facets);
  for (std::size_t f = 0; f < facets.alone.size(); ++f)
    if (is_periodic[f]) {
      ++surface->facet_counts[tags[f]].periodic;
    } else if (!is_interface(mesh, facets.alone[f])) {
      surface->exterior_facets.push_back(facets.alone[f]);
      surface->exterior_tags.push_back(tags[f]);
      ++surface->facet_counts[tags[f]].exterior;
    }
  surface->inner_facets = find_inner(mesh, facets);
  for (const auto& facet : surface->inner_facets) ++surface->facet_counts[facet.tag].inner;
  if (mesh.distribution != nullptr) surface->facet_counts = mesh.distribution->facet_counts;
  surface->vertex_representatives = std::move(order.representatives);
  return surface;
}

/// The tags of which some facets are of a kind.
std::set<std::int32_t> tags_with(const Surface& surface, std::int64_t FacetCounts::*kind) {
  std::set<std::int32_t> result;
  for (const auto& [tag, counts] : surface.facet_counts)
    if (counts.*kind > 0) result.insert(tag);
  return result;
}

} // namespace

std::set<std::int32_t> Surface::boundary_tags() const { return tags_with(*this, &FacetCounts::exterior); }
std::set<std::int32_t> Surface::periodic_tags() const { return tags_with(*this, &FacetCounts::periodic); }

const Surface& Mesh::surface() const {
  if (!surface_) surface_ = build_surface(*this);
  return *surface_;
}

std::int32_t Mesh::num_distinct_vertices() const {
  const auto& of_vertices = surface().vertex_representatives;
  if (of_vertices.empty()) return num_vertices;
  std::int32_t count = 0;
  for (std::int32_t v = 0; v < num_vertices; ++v) count += of_vertices[static_cast<std::size_t>(v)] == v ? 1 : 0;
  return count;
}

} // namespace rafter::mesh
