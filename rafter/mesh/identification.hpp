// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/entity_numbers.hpp>
#include <rafter/mesh/mesh.hpp>

/// Entities that are one because their global vertex numbers say so, or because periodic facets identify them.
namespace rafter::mesh {

/// What the global vertex numbers of a mesh say about its vertices.
struct VertexOrder {
  std::vector<std::int32_t> ranks;           ///< place of the global number among all, shape (vertex)
  std::vector<std::int32_t> representatives; ///< lowest vertex with the same global number, shape (vertex)
};
/// Both lists are empty where vertices have their local numbers as global ones. Throws InputError unless there is one
/// global number per vertex.
VertexOrder order_vertices(const Mesh& mesh);

/// The vertices of a periodic facet without padding; `to` has as many.
std::span<const std::int32_t> vertices_of(const std::array<std::int32_t, 4>& padded);

/// Number of the facet with these vertices. Throws InputError where no cell has it.
std::int32_t find_periodic_facet(const Mesh& mesh, const EntityNumbers& facets, std::span<const std::int32_t> vertices);

/// Lowest number among the edges (dim 1) or faces (2) with which periodic facets identify each, directly or through
/// others; empty without periodic facets. Edges and faces are identified as parts of facets and not by their vertices:
/// where two cells lie from side to side, two different edges may have the same global vertices.
std::vector<std::int32_t> entity_representatives(const Mesh& mesh, int dim, const EntityNumbers& known);

/// Gives the mesh global numbers: of all vertices that the periodic facets identify the lowest, its own to any other.
void number_identified_vertices(Mesh& mesh);

} // namespace rafter::mesh
