// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/facets.hpp>

#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>

namespace rafter::mesh {

namespace {

/// Numbers and orientation codes of the facets of a group, shape (cell, local facet). Those of intervals are their
/// vertices, which have one orientation and no codes.
struct GroupFacets {
  std::span<const std::int32_t> numbers;
  std::span<const std::uint8_t> orientations;
};

GroupFacets facets_of(const Mesh& mesh, const Topology& topology, std::size_t group) {
  const auto& g = topology.groups[group];
  if (mesh.tdim == 1) return {mesh.groups[group].vertices, {}};
  if (mesh.tdim == 2) return {g.edges, g.edge_orientations};
  return {g.faces, g.face_orientations};
}

} // namespace

Facets make_facets(const Mesh& mesh) {
  const auto& topology = mesh.topology();
  const auto num_entities = std::array{topology.num_vertices, topology.num_edges, topology.num_faces};
  // Number of the facet that an entity of the topology stands for; -1: no cell had it yet.
  std::vector<std::int32_t> of_entity(
      static_cast<std::size_t>(num_entities.at(static_cast<std::size_t>(mesh.tdim - 1))), -1);
  Facets result;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto [numbers, orientations] = facets_of(mesh, topology, g);
    const auto per_cell = static_cast<std::size_t>(element::num_facets(mesh.groups[g].shape));
    auto& of_group = result.of_groups.emplace_back(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const FacetRef side{static_cast<std::int32_t>(g), static_cast<std::int32_t>(i / per_cell),
                          static_cast<std::int32_t>(i % per_cell)};
      const std::uint8_t code = orientations.empty() ? std::uint8_t{0} : orientations[i];
      auto& number = of_entity[static_cast<std::size_t>(topology.representative(mesh.tdim - 1, numbers[i]))];
      if (number < 0) {
        number = static_cast<std::int32_t>(result.facets.size());
        result.facets.push_back({.first = side, .orientations = {code, 0}});
      } else {
        auto& facet = result.facets[static_cast<std::size_t>(number)];
        if (facet.has_second())
          throw base::InternalError(fmt::format("{}{} is the third one of a facet", prefix(mesh),
                                                describe_cell(mesh, side.group, side.cell)));
        facet.second = side;
        facet.orientations[1] = code;
      }
      of_group[i] = number;
    }
  }
  return result;
}

} // namespace rafter::mesh
