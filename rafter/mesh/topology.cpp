// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/orientation.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

namespace {

/// Vertex numbers of an entity in ascending order; triangles and edges padded at the end, so that they differ from
/// quadrilaterals.
using Key = std::array<std::int32_t, 4>;
constexpr std::int32_t padding = std::numeric_limits<std::int32_t>::max();

template <class Range> Key make_key(const Range& vertices) {
  Key key{padding, padding, padding, padding};
  std::copy(vertices.begin(), vertices.end(), key.begin());
  std::sort(key.begin(), key.end());
  return key;
}

struct Numbering {
  std::vector<std::int32_t> number; ///< of each key, in order of first appearance
  std::int32_t count = 0;
};

/// Equal keys get equal numbers. Keys are bucketed by their smallest vertex; buckets are small in any sane mesh, and
/// sorting within them keeps the insane ones O(n log n).
Numbering number_keys(const std::vector<Key>& keys, std::int32_t num_vertices) {
  std::vector<std::size_t> start(static_cast<std::size_t>(num_vertices) + 1, 0);
  for (const auto& key : keys) ++start[static_cast<std::size_t>(key[0]) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::size_t> order(keys.size());
  auto next = start;
  for (std::size_t i = 0; i < keys.size(); ++i) order[next[static_cast<std::size_t>(keys[i][0])]++] = i;

  std::vector<std::size_t> first(keys.size());
  for (std::size_t v = 0; v + 1 < start.size(); ++v) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(start[v]);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(start[v + 1]);
    std::sort(begin, end,
              [&keys](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    for (auto i = begin; i != end; ++i) first[*i] = i != begin && keys[*i] == keys[*(i - 1)] ? first[*(i - 1)] : *i;
  }
  Numbering result{std::vector<std::int32_t>(keys.size()), 0};
  for (std::size_t i = 0; i < keys.size(); ++i)
    result.number[i] = first[i] == i ? result.count++ : result.number[first[i]];
  return result;
}

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::int32_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(static_cast<std::size_t>(cell) * n, n);
}

/// Keys of the sub-entities of one dimension of all cells: (group, cell, local entity) in this order.
std::vector<Key> entity_keys(const Mesh& mesh, int dim) {
  std::vector<Key> keys;
  std::vector<std::int32_t> entity;
  for (const auto& group : mesh.groups)
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto vertices = cell_vertices(group, c);
      for (int e = 0; e < element::num_entities(group.shape, dim); ++e) {
        entity.clear();
        for (const int v : element::entity_vertices(group.shape, dim, e))
          entity.push_back(vertices[static_cast<std::size_t>(v)]);
        keys.push_back(make_key(entity));
      }
    }
  return keys;
}

void check_vertices(const Mesh& mesh) {
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto v = cell_vertices(group, c);
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (v[i] < 0 || v[i] >= mesh.num_vertices)
          throw base::InputError(fmt::format("{}{} {} has vertex {}; the mesh has vertices 0 to {}", prefix(mesh),
                                             element::name(group.shape), c, v[i], mesh.num_vertices - 1));
        if (std::find(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(i), v[i]) !=
            v.begin() + static_cast<std::ptrdiff_t>(i))
          throw base::InputError(fmt::format("{}{} has the same vertex twice: it is degenerate", prefix(mesh),
                                             describe_cell(mesh, static_cast<std::int32_t>(g), c)));
      }
    }
  }
}

/// Entity numbers and orientation codes of one dimension, split by group.
void fill_groups(const Mesh& mesh, int dim, const std::vector<std::int32_t>& number, Topology& topology) {
  std::size_t next = 0;
  std::vector<std::int64_t> entity;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    auto& numbers = dim == 1 ? topology.groups[g].edges : topology.groups[g].faces;
    auto& codes = dim == 1 ? topology.groups[g].edge_orientations : topology.groups[g].face_orientations;
    const int per_cell = element::num_entities(group.shape, dim);
    numbers.reserve(static_cast<std::size_t>(per_cell) * group.tags.size());
    codes.reserve(numbers.capacity());
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto vertices = cell_vertices(group, c);
      for (int e = 0; e < per_cell; ++e) {
        entity.clear();
        for (const int v : element::entity_vertices(group.shape, dim, e))
          entity.push_back(vertices[static_cast<std::size_t>(v)]);
        numbers.push_back(number[next++]);
        codes.push_back(
            static_cast<std::uint8_t>(element::orientation(element::entity_shape(group.shape, dim, e), entity)));
      }
    }
  }
}

bool have_same_vertices(const Mesh& mesh, const FacetRef& a, const FacetRef& b) {
  if (a.group != b.group) return false;
  const auto& group = mesh.groups[static_cast<std::size_t>(a.group)];
  const auto va = cell_vertices(group, a.cell), vb = cell_vertices(group, b.cell);
  return std::is_permutation(va.begin(), va.end(), vb.begin());
}

[[noreturn]] void fail_crowded(const Mesh& mesh, const Key& key, const std::vector<FacetRef>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += (i > 0 ? ", " : "") + describe_cell(mesh, cells[i].group, cells[i].cell);
  std::string vertices;
  for (const auto v : key)
    if (v != padding) vertices += (vertices.empty() ? "" : ", ") + std::to_string(v);
  throw base::InputError(
      fmt::format("{}the facet with vertices {} belongs to {} cells ({}); at most two can share a facet", prefix(mesh),
                  vertices, cells.size(), text));
}

[[noreturn]] void fail_duplicate(const Mesh& mesh, const FacetRef& a, const FacetRef& b) {
  throw base::InputError(fmt::format("{}{} and {} have the same vertices: duplicate cells", prefix(mesh),
                                     describe_cell(mesh, a.group, a.cell), describe_cell(mesh, b.group, b.cell)));
}

/// Cells of each facet, checked: at most two, and not equal to each other.
class FacetCells {
public:
  FacetCells(const Mesh& mesh, const std::vector<Key>& keys, const std::vector<std::int32_t>& number,
             std::int32_t count)
      : cells_(static_cast<std::size_t>(count)), num_cells_(static_cast<std::size_t>(count), 0) {
    std::size_t next = 0;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      for (std::int32_t c = 0; c < mesh.groups[g].num_cells(); ++c)
        for (int f = 0; f < element::num_facets(mesh.groups[g].shape); ++f, ++next) {
          const auto facet = static_cast<std::size_t>(number[next]);
          const FacetRef ref{static_cast<std::int32_t>(g), c, f};
          if (num_cells_[facet] == 2) fail(mesh, keys[next], number[next], keys, number);
          cells_[facet][num_cells_[facet]++] = ref;
          if (num_cells_[facet] == 2 && f == 0 && have_same_vertices(mesh, cells_[facet][0], ref))
            fail_duplicate(mesh, cells_[facet][0], ref);
        }
  }
  int num_cells(std::int32_t facet) const { return num_cells_[static_cast<std::size_t>(facet)]; }
  const FacetRef& first(std::int32_t facet) const { return cells_[static_cast<std::size_t>(facet)][0]; }

private:
  [[noreturn]] static void fail(const Mesh& mesh, const Key& key, std::int32_t facet, const std::vector<Key>&,
                                const std::vector<std::int32_t>& number) {
    std::vector<FacetRef> cells;
    std::size_t next = 0;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      for (std::int32_t c = 0; c < mesh.groups[g].num_cells(); ++c)
        for (int f = 0; f < element::num_facets(mesh.groups[g].shape); ++f, ++next)
          if (number[next] == facet) cells.push_back({static_cast<std::int32_t>(g), c, f});
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (have_same_vertices(mesh, cells[i], cells[j])) fail_duplicate(mesh, cells[j], cells[i]);
    fail_crowded(mesh, key, cells);
  }

  std::vector<std::array<FacetRef, 2>> cells_;
  std::vector<std::uint8_t> num_cells_;
};

Key tagged_key(const Mesh& mesh, const TaggedFacet& facet) {
  std::vector<std::int32_t> vertices;
  for (const auto v : facet.vertices) {
    if (v == -1) break;
    if (v < 0 || v >= mesh.num_vertices)
      throw base::InputError(fmt::format("{}a facet with tag {} has vertex {}; the mesh has vertices 0 to {}",
                                         prefix(mesh), facet.tag, v, mesh.num_vertices - 1));
    vertices.push_back(v);
  }
  if (vertices.empty())
    throw base::InputError(fmt::format("{}a facet with tag {} has no vertices", prefix(mesh), facet.tag));
  return make_key(vertices);
}

[[noreturn]] void fail_unmatched(const Mesh& mesh, const TaggedFacet& facet) {
  std::string vertices;
  for (const auto v : facet.vertices)
    if (v != -1) vertices += (vertices.empty() ? "" : ", ") + std::to_string(v);
  throw base::InputError(fmt::format("{}the facet with tag {} and vertices {} is not a facet of any cell", prefix(mesh),
                                     facet.tag, vertices));
}

/// Exterior facets in the order of their cells, with tags. `keys` and `number` cover the cells' facets, then the tagged
/// ones: a tagged facet that got a new number belongs to no cell.
void find_exterior(const Mesh& mesh, const std::vector<Key>& keys, const std::vector<std::int32_t>& number,
                   Topology& topology) {
  const std::size_t num_tagged = mesh.tagged_facets.size(), num_sides = keys.size() - num_tagged;
  std::int32_t count = 0;
  for (std::size_t i = 0; i < num_sides; ++i) count = std::max(count, number[i] + 1);
  const FacetCells cells(mesh, keys, number, count);

  std::vector<std::int32_t> tags(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < num_tagged; ++i) {
    const auto facet = number[num_sides + i];
    if (facet >= count) fail_unmatched(mesh, mesh.tagged_facets[i]);
    auto& tag = tags[static_cast<std::size_t>(facet)];
    if (tag == 0) tag = mesh.tagged_facets[i].tag; // a facet that is listed twice keeps its first tag
  }
  std::vector<std::pair<FacetRef, std::int32_t>> exterior;
  for (std::int32_t f = 0; f < count; ++f)
    if (cells.num_cells(f) == 1) exterior.emplace_back(cells.first(f), tags[static_cast<std::size_t>(f)]);
  std::sort(exterior.begin(), exterior.end());
  for (const auto& [facet, tag] : exterior) {
    topology.exterior_facets.push_back(facet);
    topology.exterior_tags.push_back(tag);
  }
}

std::shared_ptr<const Topology> build_topology(const Mesh& mesh) {
  check_vertices(mesh);
  auto topology = std::make_shared<Topology>();
  topology->tdim = mesh.tdim;
  topology->num_vertices = mesh.num_vertices;
  topology->groups.resize(mesh.groups.size());
  for (int dim = std::max(mesh.tdim - 1, 0); dim >= std::min(mesh.tdim - 1, 1); --dim) {
    auto keys = entity_keys(mesh, dim);
    const std::size_t num_sides = keys.size();
    const bool is_facet = dim == mesh.tdim - 1;
    if (is_facet)
      for (const auto& facet : mesh.tagged_facets) keys.push_back(tagged_key(mesh, facet));
    const auto numbering = number_keys(keys, mesh.num_vertices);
    if (is_facet) find_exterior(mesh, keys, numbering.number, *topology);
    if (dim == 0) break; // 1D: facets are vertices
    fill_groups(mesh, dim, numbering.number, *topology);
    std::int32_t count = 0;
    for (std::size_t i = 0; i < num_sides; ++i) count = std::max(count, numbering.number[i] + 1);
    (dim == 1 ? topology->num_edges : topology->num_faces) = count;
  }
  return topology;
}

} // namespace

const Topology& Mesh::topology() const {
  if (!topology_) topology_ = build_topology(*this);
  return *topology_;
}

} // namespace rafter::mesh
