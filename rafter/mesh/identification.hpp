// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/entity_matching.hpp>
#include <rafter/mesh/mesh.hpp>

/// Finds entities that are the same because of their global vertex numbers, or because periodic facets identify them.
namespace rafter::mesh {

/// Order and equality of the vertices of a mesh by their global numbers.
struct VertexOrder {
  std::vector<std::int32_t> ranks; ///< rank of the vertex's global number among all global numbers, shape (vertex)
  std::vector<std::int32_t> representatives; ///< lowest vertex with the same global number, shape (vertex)
};
/// Compares the global vertex numbers of a mesh. Both lists are empty where global numbers are the local ones. Throws
/// InputError unless there is one global number per vertex.
VertexOrder order_vertices(const Mesh& mesh);

/// The vertices of one side of a periodic facet without padding; the other side has as many.
std::span<const std::int32_t> vertices_of(const std::array<std::int32_t, 4>& padded);

/// Returns the edges (dim 1) or faces (2) of the periodic facets, each followed by the one that is identified with it.
/// They are parts of facets and not known by their global vertices: where two cells fill the mesh from one side to the
/// opposite one, different edges may have the same ones.
std::vector<EntityKey> periodic_entities(const Mesh& mesh, int dim);

/// Returns for each of the entities, numbered with `periodic_entities` as lookups, the lowest number among those with
/// which periodic facets identify it, directly or through others; empty without periodic facets.
std::vector<std::int32_t> entity_representatives(const Mesh& mesh, const EntityNumbers& entities);

/// Gives vertices that periodic facets identify one global number, the lowest of theirs; other vertices keep theirs.
void number_identified_vertices(Mesh& mesh);

} // namespace rafter::mesh
