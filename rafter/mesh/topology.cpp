// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <unordered_map>

#include <rafter/base/parallel.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/entity_matching.hpp>
#include <rafter/mesh/identification.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

namespace {

/// Returns the orientation codes of the edges or faces of a group, shape (cell, local entity), as the ranks of the
/// vertices say.
std::vector<std::uint8_t> orientations(const CellGroup& group, const VertexOrder& order, int dim) {
  const auto per_cell = static_cast<std::size_t>(element::num_entities(group.shape, dim));
  const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
  std::vector<std::uint8_t> codes(group.tags.size() * per_cell);
  base::Parts(group.num_cells()).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    EntityOrientations seen(group.shape, dim);
    std::vector<std::int32_t> ranks(num_vertices);
    for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
      std::copy_n(group.vertices.begin() + static_cast<std::ptrdiff_t>(c * num_vertices), num_vertices, ranks.begin());
      if (!order.ranks.empty())
        for (auto& v : ranks) v = order.ranks[static_cast<std::size_t>(v)];
      std::ranges::copy(seen.of(ranks), codes.begin() + static_cast<std::ptrdiff_t>(c * per_cell));
    }
  });
  return codes;
}

/// Returns for each entity of a part of a mesh the lowest one with the same number on all processes; empty where all
/// numbers differ.
std::vector<std::int32_t> representatives_by_number(const Mesh& mesh, int dim, const EntityNumbers& entities) {
  std::unordered_map<std::int64_t, std::int32_t> lowest;
  std::vector<std::int64_t> number_of(static_cast<std::size_t>(entities.count));
  for (std::size_t g = 0; g < entities.of_groups.size(); ++g)
    for (std::size_t i = 0; i < entities.of_groups[g].size(); ++i) {
      const auto entity = entities.of_groups[g][i];
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

/// Adds the edges or faces of the cells.
void add_entities(const Mesh& mesh, const VertexOrder& order, int dim, Topology& topology) {
  auto entities = number_entities(mesh, dim, periodic_entities(mesh, dim));
  topology.representatives[static_cast<std::size_t>(dim)] = mesh.distribution == nullptr
                                                                ? entity_representatives(mesh, entities)
                                                                : representatives_by_number(mesh, dim, entities);
  (dim == 1 ? topology.num_edges : topology.num_faces) = entities.count;
  for (std::size_t g = 0; g < topology.groups.size(); ++g) {
    auto& group = topology.groups[g];
    (dim == 1 ? group.edges : group.faces) = std::move(entities.of_groups[g]);
    (dim == 1 ? group.edge_orientations : group.face_orientations) = orientations(mesh.groups[g], order, dim);
  }
}

std::shared_ptr<const Topology> build_topology(const Mesh& mesh) {
  auto topology = std::make_shared<Topology>(Topology{mesh.surface()});
  topology->tdim = mesh.tdim;
  topology->num_vertices = mesh.num_vertices;
  topology->groups.resize(mesh.groups.size());
  topology->representatives[0] = topology->vertex_representatives;
  const auto order = order_vertices(mesh);
  for (int dim = mesh.tdim - 1; dim > 0; --dim) add_entities(mesh, order, dim, *topology);
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
