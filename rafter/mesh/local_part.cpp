// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/distribution.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/identification.hpp>

namespace rafter::mesh {
namespace {

void require_fits(const Mesh& mesh, const CellRanks& ranks, int num_ranks) {
  if (mesh.distribution != nullptr)
    throw base::InputError(prefix(mesh) + "the mesh is a part of a larger one: distribute the whole mesh");
  if (ranks.size() != mesh.groups.size())
    throw base::InputError(fmt::format("{}ranks are given for {} groups of cells out of {}", prefix(mesh), ranks.size(),
                                       mesh.groups.size()));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_ranks), 0);
  for (std::size_t g = 0; g < ranks.size(); ++g) {
    if (ranks[g].size() != mesh.groups[g].tags.size())
      throw base::InputError(fmt::format("{}{} ranks are given for the {} cells of group {}", prefix(mesh),
                                         ranks[g].size(), mesh.groups[g].tags.size(), g));
    for (std::size_t cell = 0; cell < ranks[g].size(); ++cell) {
      const int rank = ranks[g][cell];
      if (rank < 0 || rank >= num_ranks)
        throw base::InputError(fmt::format(
            "{}{} has rank {}; there are processes 0 to {}", prefix(mesh),
            describe_cell(mesh, static_cast<std::int32_t>(g), static_cast<std::int32_t>(cell)), rank, num_ranks - 1));
      ++counts[static_cast<std::size_t>(rank)];
    }
  }
  const auto empty = std::ranges::find(counts, 0);
  if (empty != counts.end())
    throw base::InputError(fmt::format("{}process {} of {} has no cell: use fewer processes, or other ranks",
                                       prefix(mesh), empty - counts.begin(), num_ranks));
}

/// The vertices, edges or faces of the cells of a group, shape (cell, local entity).
std::span<const std::int32_t> entities_of(const Mesh& mesh, std::size_t group, int dim) {
  if (dim == 0) return mesh.groups[group].vertices;
  const auto& topology = mesh.topology().groups[group];
  return dim == 1 ? topology.edges : topology.faces;
}

/// Calls visit(group, cell, number) for the entities of all cells, with the numbers of their representatives.
template <class Visit> void for_entities(const Mesh& mesh, int dim, const Visit& visit) {
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto per_cell = static_cast<std::size_t>(element::num_entities(mesh.groups[g].shape, dim));
    const auto entities = entities_of(mesh, g, dim);
    for (std::size_t place = 0; place < entities.size(); ++place)
      visit(g, place / per_cell, mesh.topology().representative(dim, entities[place]));
  }
}

/// The processes of all entities that several have.
std::map<std::int64_t, std::vector<int>> find_sharing(const Mesh& mesh, const CellRanks& ranks, int dim) {
  const auto& topology = mesh.topology();
  const auto count = static_cast<std::size_t>(dim == 0   ? topology.num_vertices
                                              : dim == 1 ? topology.num_edges
                                                         : topology.num_faces);
  std::vector<int> first(count, -1);
  std::vector<bool> is_shared(count);
  for_entities(mesh, dim, [&](std::size_t g, std::size_t cell, std::int32_t number) {
    int& rank = first[static_cast<std::size_t>(number)];
    if (rank < 0) rank = ranks[g][cell];
    if (rank != ranks[g][cell]) is_shared[static_cast<std::size_t>(number)] = true;
  });
  std::map<std::int64_t, std::set<int>> found;
  for_entities(mesh, dim, [&](std::size_t g, std::size_t cell, std::int32_t number) {
    if (is_shared[static_cast<std::size_t>(number)]) found[number].insert(ranks[g][cell]);
  });
  std::map<std::int64_t, std::vector<int>> result;
  for (const auto& [number, of_entity] : found) result[number] = {of_entity.begin(), of_entity.end()};
  return result;
}

/// Local numbers in the order in which they are asked for.
class Renumbering {
public:
  explicit Renumbering(std::size_t count) : local_(count, -1) {}
  std::int32_t operator()(std::int32_t global) {
    auto& local = local_[static_cast<std::size_t>(global)];
    if (local < 0) {
      local = static_cast<std::int32_t>(globals_.size());
      globals_.push_back(global);
    }
    return local;
  }
  bool has(std::int32_t global) const { return local_[static_cast<std::size_t>(global)] >= 0; }
  const std::vector<std::int32_t>& globals() const { return globals_; }

private:
  std::vector<std::int32_t> local_, globals_;
};

class PartMaker {
public:
  PartMaker(const Mesh& mesh, const CellRanks& ranks, std::shared_ptr<const comm::Communicator> communicator)
      : mesh_(mesh), ranks_(ranks), vertices_(static_cast<std::size_t>(mesh.num_vertices)),
        nodes_(mesh.points.size() / static_cast<std::size_t>(mesh.gdim)) {
    distribution_.communicator = std::move(communicator);
  }

  Mesh run() {
    part_.tdim = mesh_.tdim;
    part_.gdim = mesh_.gdim;
    part_.physical_groups = mesh_.physical_groups;
    part_.source = mesh_.source;
    for (std::size_t g = 0; g < mesh_.groups.size(); ++g) add_group(g);
    add_numbered();
    add_entities();
    add_boundary();
    add_periodic();
    add_tags();
    part_.distribution = std::make_shared<const Distribution>(std::move(distribution_));
    return std::move(part_);
  }

private:
  void add_group(std::size_t g) {
    const auto& from = mesh_.groups[g];
    CellGroup to{.shape = from.shape, .degree = from.degree};
    auto& cells = distribution_.global_cells.emplace_back();
    for (std::int32_t cell = 0; cell < from.num_cells(); ++cell)
      if (ranks_[g][static_cast<std::size_t>(cell)] == distribution_.rank()) cells.push_back(cell);
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(from.shape)),
               num_nodes = static_cast<std::size_t>(geometry_element(from)->num_dofs());
    for (const auto cell : cells) {
      const auto c = static_cast<std::size_t>(cell);
      for (std::size_t v = 0; v < num_vertices; ++v)
        to.vertices.push_back(vertices_(from.vertices[c * num_vertices + v]));
      for (std::size_t n = 0; n < num_nodes; ++n) to.own_nodes.push_back(nodes_(from.nodes()[c * num_nodes + n]));
      to.tags.push_back(from.tags[c]);
      if (!from.parents.empty()) to.parents.append(from.parents.of(cell));
    }
    part_.groups.push_back(std::move(to));
  }

  void add_numbered() {
    const auto dim = static_cast<std::size_t>(mesh_.gdim);
    for (const auto node : nodes_.globals()) {
      const auto point = mesh_.points.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * dim);
      part_.points.insert(part_.points.end(), point, point + static_cast<std::ptrdiff_t>(dim));
    }
    part_.num_vertices = static_cast<std::int32_t>(vertices_.globals().size());
    for (const auto vertex : vertices_.globals()) part_.global_vertices.push_back(mesh_.global_vertex(vertex));
  }

  void add_entities() {
    for (int dim = 0; dim < mesh_.tdim; ++dim) {
      const auto d = static_cast<std::size_t>(dim);
      auto& entities = distribution_.entities[d];
      auto sharing = find_sharing(mesh_, ranks_, dim);
      entities.resize(mesh_.groups.size());
      for_entities(mesh_, dim, [&](std::size_t g, std::size_t cell, std::int32_t number) {
        if (ranks_[g][cell] != distribution_.rank()) return;
        entities[g].push_back(number);
        const auto found = sharing.find(number);
        if (found == sharing.end()) return;
        distribution_.sharing[d].insert(*found);
        if (dim + 1 == mesh_.tdim) add_interface(g, entities[g].size() - 1);
      });
    }
    std::ranges::sort(distribution_.interface_facets);
  }
  /// The facet at this place among those of the cells of the part.
  void add_interface(std::size_t g, std::size_t place) {
    const auto per_cell = static_cast<std::size_t>(element::num_facets(mesh_.groups[g].shape));
    distribution_.interface_facets.push_back({static_cast<std::int32_t>(g), static_cast<std::int32_t>(place / per_cell),
                                              static_cast<std::int32_t>(place % per_cell)});
  }

  bool is_of_part(const FacetRef& facet) const {
    return ranks_[static_cast<std::size_t>(facet.group)][static_cast<std::size_t>(facet.cell)] == distribution_.rank();
  }
  void add_boundary() {
    const auto& topology = mesh_.topology();
    distribution_.facet_counts = topology.facet_counts;
    for (std::size_t i = 0; i < topology.exterior_facets.size(); ++i)
      if (const auto tag = topology.exterior_tags[i]; tag != 0 && is_of_part(topology.exterior_facets[i]))
        add_tagged(topology.exterior_facets[i], tag);
    for (const auto& facet : topology.inner_facets)
      if (is_of_part(facet.first))
        add_tagged(facet.first, facet.tag);
      else if (is_of_part(facet.second))
        add_tagged(facet.second, facet.tag);
  }
  void add_tagged(const FacetRef& facet, std::int32_t tag) {
    const auto& group = mesh_.groups[static_cast<std::size_t>(facet.group)];
    const auto first =
        static_cast<std::size_t>(facet.cell) * static_cast<std::size_t>(element::num_vertices(group.shape));
    TaggedFacet tagged{.tag = tag};
    auto to = tagged.vertices.begin();
    for (const int v : element::entity_vertices(group.shape, mesh_.tdim - 1, facet.facet))
      *to++ = vertices_(group.vertices[first + static_cast<std::size_t>(v)]);
    part_.tagged_facets.push_back(tagged);
  }

  /// Vertices of a facet in ascending order.
  static std::vector<std::int32_t> key_of(std::span<const std::int32_t> vertices) {
    std::vector<std::int32_t> result(vertices.begin(), vertices.end());
    std::ranges::sort(result);
    return result;
  }
  /// Pairs both of whose facets belong to cells of the part. The others are interfaces.
  void add_periodic() {
    if (mesh_.periodic_facets.empty()) return;
    std::set<std::vector<std::int32_t>> facets;
    for (std::size_t g = 0; g < mesh_.groups.size(); ++g) {
      const auto& group = mesh_.groups[g];
      const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
      for (const auto cell : distribution_.global_cells[g])
        for (int f = 0; f < element::num_facets(group.shape); ++f) {
          std::vector<std::int32_t> vertices;
          for (const int v : element::entity_vertices(group.shape, mesh_.tdim - 1, f))
            vertices.push_back(
                group.vertices[static_cast<std::size_t>(cell) * num_vertices + static_cast<std::size_t>(v)]);
          facets.insert(key_of(vertices));
        }
    }
    for (const auto& pair : mesh_.periodic_facets) {
      if (!facets.contains(key_of(vertices_of(pair.from))) || !facets.contains(key_of(vertices_of(pair.to)))) continue;
      auto local = pair;
      for (auto* side : {&local.from, &local.to})
        for (auto& vertex : *side)
          if (vertex >= 0) vertex = vertices_(vertex);
      part_.periodic_facets.push_back(local);
    }
  }

  void add_tags() {
    for (const auto& group : mesh_.groups) distribution_.cell_tags.insert(group.tags.begin(), group.tags.end());
    for (const auto& facet : mesh_.tagged_facets) distribution_.facet_tags.insert(facet.tag);
  }

  const Mesh& mesh_;
  const CellRanks& ranks_;
  Renumbering vertices_, nodes_;
  Distribution distribution_;
  Mesh part_;
};

} // namespace

Mesh local_part(const Mesh& mesh, const CellRanks& ranks, std::shared_ptr<const comm::Communicator> communicator) {
  require_fits(mesh, ranks, communicator->size());
  if (communicator->size() == 1) return mesh;
  return PartMaker(mesh, ranks, std::move(communicator)).run();
}

void require_whole(const Mesh& mesh, std::string_view what) {
  if (mesh.distribution != nullptr)
    throw base::InputError(
        fmt::format("{}the mesh is a part of a larger one, and {} are for whole meshes alone", prefix(mesh), what));
}

bool is_interface_cell(const Mesh& mesh, std::int32_t group, std::int32_t cell) {
  if (mesh.distribution == nullptr) return false;
  const auto num_vertices =
      static_cast<std::size_t>(element::num_vertices(mesh.groups[static_cast<std::size_t>(group)].shape));
  for (std::size_t v = 0; v < num_vertices; ++v)
    if (!mesh.distribution->ranks_of(0, group, static_cast<std::size_t>(cell) * num_vertices + v).empty()) return true;
  return false;
}

} // namespace rafter::mesh
