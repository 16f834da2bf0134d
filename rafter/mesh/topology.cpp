// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/entity_numbers.hpp>
#include <rafter/mesh/identification.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

namespace {

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::int32_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(static_cast<std::size_t>(cell) * n, n);
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
void check_identified(const Mesh& mesh, const VertexOrder& order) {
  if (order.ranks.empty()) return;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::int32_t c = 0; c < mesh.groups[g].num_cells(); ++c) {
      const auto v = cell_vertices(mesh.groups[g], c);
      const auto rank = [&](std::size_t i) { return order.ranks[static_cast<std::size_t>(v[i])]; };
      for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (rank(i) == rank(j)) fail_wrapped(mesh, static_cast<std::int32_t>(g), c, j, i);
    }
}

/// Numbers and orientation codes of the sub-entities of one dimension: of each group, shape (cell, local entity).
struct Entities {
  std::vector<std::vector<std::int32_t>> numbers;
  std::vector<std::vector<std::uint8_t>> orientations;
};

/// Entities are told apart by vertices, and turned as the ranks of the vertices say.
Entities number_entities(const Mesh& mesh, const VertexOrder& order, int dim, EntityNumbers& known) {
  Entities result;
  std::vector<std::int32_t> ranks; // of a cell's vertices
  for (const auto& group : mesh.groups) {
    CellEntities of_cell(group.shape, dim), by_rank(group.shape, dim);
    const auto& turned = order.ranks.empty() ? of_cell : by_rank;
    auto& numbers = result.numbers.emplace_back();
    auto& orientations = result.orientations.emplace_back();
    numbers.reserve(static_cast<std::size_t>(of_cell.count()) * group.tags.size());
    orientations.reserve(numbers.capacity());
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto vertices = cell_vertices(group, c);
      of_cell.visit(vertices);
      if (!order.ranks.empty()) {
        ranks.clear();
        for (const auto v : vertices) ranks.push_back(order.ranks[static_cast<std::size_t>(v)]);
        by_rank.visit(ranks);
      }
      for (int e = 0; e < of_cell.count(); ++e) {
        numbers.push_back(known.add(of_cell.key(e)));
        orientations.push_back(turned.orientation(e));
      }
    }
  }
  return result;
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

/// Cells of each facet, checked: at most two, and not equal to each other.
class FacetCells {
public:
  /// `numbers`: of the facets of each group, shape (cell, local facet).
  FacetCells(const Mesh& mesh, const std::vector<std::vector<std::int32_t>>& numbers, std::int32_t count)
      : first_(static_cast<std::size_t>(count)), num_cells_(static_cast<std::size_t>(count), 0) {
    for_sides(mesh, numbers, [&](const FacetRef& side, std::int32_t number) {
      const auto facet = static_cast<std::size_t>(number);
      if (num_cells_[facet] == 2) fail(mesh, number, numbers);
      if (num_cells_[facet]++ == 0)
        first_[facet] = side;
      else if (side.facet == 0 && have_same_vertices(mesh, first_[facet], side))
        fail_duplicate(mesh, first_[facet], side);
    });
  }
  int num_cells(std::int32_t facet) const { return num_cells_[static_cast<std::size_t>(facet)]; }
  const FacetRef& first(std::int32_t facet) const { return first_[static_cast<std::size_t>(facet)]; }

private:
  /// Calls visit(side, number) for the facets of all cells.
  template <class Visit>
  static void for_sides(const Mesh& mesh, const std::vector<std::vector<std::int32_t>>& numbers, const Visit& visit) {
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      const int num_facets = element::num_facets(mesh.groups[g].shape);
      auto number = numbers[g].begin();
      for (std::int32_t c = 0; c < mesh.groups[g].num_cells(); ++c)
        for (int f = 0; f < num_facets; ++f) visit(FacetRef{static_cast<std::int32_t>(g), c, f}, *number++);
    }
  }
  [[noreturn]] static void fail(const Mesh& mesh, std::int32_t facet,
                                const std::vector<std::vector<std::int32_t>>& numbers) {
    std::vector<FacetRef> cells;
    for_sides(mesh, numbers, [&](const FacetRef& side, std::int32_t number) {
      if (number == facet) cells.push_back(side);
    });
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (have_same_vertices(mesh, cells[i], cells[j])) fail_duplicate(mesh, cells[j], cells[i]);
    fail_crowded(mesh, cells);
  }

  std::vector<FacetRef> first_;
  std::vector<std::uint8_t> num_cells_;
};

EntityKey tagged_key(const Mesh& mesh, const TaggedFacet& facet) {
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
  return make_entity_key(vertices);
}

[[noreturn]] void fail_unmatched(const Mesh& mesh, const TaggedFacet& facet) {
  std::string vertices;
  for (const auto v : facet.vertices)
    if (v != -1) vertices += (vertices.empty() ? "" : ", ") + std::to_string(v);
  throw base::InputError(fmt::format("{}the facet with tag {} and vertices {} is not a facet of any cell", prefix(mesh),
                                     facet.tag, vertices));
}

/// Tags of the facets that cells have, shape (facet).
std::vector<std::int32_t> facet_tags(const Mesh& mesh, const EntityNumbers& known) {
  std::vector<std::int32_t> tags(static_cast<std::size_t>(known.count()), 0);
  for (const auto& tagged : mesh.tagged_facets) {
    const auto facet = known.find(tagged_key(mesh, tagged));
    if (facet < 0) fail_unmatched(mesh, tagged);
    auto& tag = tags[static_cast<std::size_t>(facet)];
    if (tag == 0) tag = tagged.tag; // a facet that is listed twice keeps its first tag
  }
  return tags;
}

/// Whether periodic facets identify each facet with another, shape (facet).
std::vector<bool> find_periodic(const Mesh& mesh, const FacetCells& cells, const EntityNumbers& known) {
  std::vector<bool> result(static_cast<std::size_t>(known.count()));
  for (const auto& facet : mesh.periodic_facets)
    for (const auto& side : {facet.from, facet.to}) {
      const auto number = find_periodic_facet(mesh, known, vertices_of(side));
      if (cells.num_cells(number) != 1)
        throw base::InputError(fmt::format("{}the periodic facet with vertices {} lies between two cells", prefix(mesh),
                                           fmt::join(vertices_of(side), ", ")));
      result[static_cast<std::size_t>(number)] = true;
    }
  return result;
}

/// Whether a cell of another process has the facet, too.
bool is_interface(const Mesh& mesh, const FacetRef& facet) {
  return mesh.distribution != nullptr && std::ranges::binary_search(mesh.distribution->interface_facets, facet);
}

/// Of a part of a mesh: lowest entity with the same number on all processes; empty where all numbers differ.
std::vector<std::int32_t> representatives_by_number(const Mesh& mesh, int dim, const Entities& entities,
                                                    std::int32_t count) {
  std::unordered_map<std::int64_t, std::int32_t> lowest;
  std::vector<std::int64_t> number_of(static_cast<std::size_t>(count));
  for (std::size_t g = 0; g < entities.numbers.size(); ++g)
    for (std::size_t i = 0; i < entities.numbers[g].size(); ++i) {
      const auto entity = entities.numbers[g][i];
      const auto number = mesh.distribution->entities[static_cast<std::size_t>(dim)][g].at(i);
      number_of[static_cast<std::size_t>(entity)] = number;
      auto& first = lowest.try_emplace(number, entity).first->second;
      first = std::min(first, entity);
    }
  if (lowest.size() == number_of.size()) return {};
  std::vector<std::int32_t> result;
  for (const auto number : number_of) result.push_back(lowest.at(number));
  return result;
}

/// Exterior facets in the order of their cells, which is that of the facets' numbers, with tags.
void find_exterior(const Mesh& mesh, const Entities& facets, const EntityNumbers& known, Topology& topology) {
  const FacetCells cells(mesh, facets.numbers, known.count());
  const auto tags = facet_tags(mesh, known);
  const auto is_periodic = find_periodic(mesh, cells, known);
  for (std::int32_t f = 0; f < known.count(); ++f) {
    if (cells.num_cells(f) != 1) continue;
    const auto tag = tags[static_cast<std::size_t>(f)];
    if (is_periodic[static_cast<std::size_t>(f)]) {
      topology.periodic_tags.insert(tag);
    } else if (!is_interface(mesh, cells.first(f))) {
      topology.exterior_facets.push_back(cells.first(f));
      topology.exterior_tags.push_back(tag);
    }
  }
  topology.boundary_tags.insert(topology.exterior_tags.begin(), topology.exterior_tags.end());
  if (mesh.distribution == nullptr) return;
  topology.boundary_tags = mesh.distribution->boundary_tags;
  topology.periodic_tags = mesh.distribution->periodic_tags;
}

/// Gives the topology the edges or faces of its cells.
void keep(Entities entities, int dim, std::int32_t count, Topology& topology) {
  (dim == 1 ? topology.num_edges : topology.num_faces) = count;
  for (std::size_t g = 0; g < topology.groups.size(); ++g) {
    auto& group = topology.groups[g];
    (dim == 1 ? group.edges : group.faces) = std::move(entities.numbers[g]);
    (dim == 1 ? group.edge_orientations : group.face_orientations) = std::move(entities.orientations[g]);
  }
}

std::shared_ptr<const Topology> build_topology(const Mesh& mesh) {
  check_vertices(mesh);
  auto order = order_vertices(mesh);
  check_identified(mesh, order);
  auto topology = std::make_shared<Topology>();
  topology->tdim = mesh.tdim;
  topology->num_vertices = mesh.num_vertices;
  topology->groups.resize(mesh.groups.size());
  for (int dim = std::max(mesh.tdim - 1, 0); dim >= std::min(mesh.tdim - 1, 1); --dim) {
    EntityNumbers known(mesh.num_vertices);
    auto entities = number_entities(mesh, order, dim, known);
    if (dim == mesh.tdim - 1) find_exterior(mesh, entities, known, *topology);
    if (dim == 0) break; // 1D: facets are vertices
    topology->representatives[static_cast<std::size_t>(dim)] =
        mesh.distribution == nullptr ? entity_representatives(mesh, dim, known)
                                     : representatives_by_number(mesh, dim, entities, known.count());
    keep(std::move(entities), dim, known.count(), *topology);
  }
  topology->representatives[0] = std::move(order.representatives);
  return topology;
}

} // namespace

std::int32_t Topology::num_representatives(int dim) const {
  const auto& of_dim = representatives[static_cast<std::size_t>(dim)];
  if (of_dim.empty()) return std::array{num_vertices, num_edges, num_faces}[static_cast<std::size_t>(dim)];
  std::int32_t count = 0;
  for (std::size_t i = 0; i < of_dim.size(); ++i) count += of_dim[i] == static_cast<std::int32_t>(i) ? 1 : 0;
  return count;
}

const Topology& Mesh::topology() const {
  if (!topology_) topology_ = build_topology(*this);
  return *topology_;
}

} // namespace rafter::mesh
