// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <rafter/mesh/mesh.hpp>

/// Facets of the boundary that lie at one place, although their cells share no facet.
namespace rafter::mesh {

/// Facets that coincide with others: the mesh is open between them, and nothing flows from one to the other.
struct TouchingFacets {
  std::int64_t num_pairs = 0;
  std::int32_t num_connected_components = 0; ///< those that have such facets
  FacetRef first, second;                    ///< the first pair
  double length = 0;                         ///< a length at which their vertices are one, for merged() (merge.hpp)
};

/// Finds pairs of facets of the boundary, of different cells, whose vertices lie at the same places to within 1e-6 of
/// the size of the facet, and whose nodes do where they are curved. None: there is no pair. Periodic facets are no
/// boundary. Takes O(n log n) operations for n facets of the boundary.
std::optional<TouchingFacets> find_touching(const Mesh& mesh);

/// Says what was found, without what can be done about it: "8 facets of the boundary lie on 8 others without being one
/// with them: 2 connected components of the mesh touch there and share no nodes, the first at (1, 0.5), between ... and
/// ...".
std::string describe(const Mesh& mesh, const TouchingFacets& touching);

} // namespace rafter::mesh
