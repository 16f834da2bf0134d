// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Facets with the cells on both sides, for integrals over interior facets and dofs on facets.
namespace rafter::mesh {

/// A facet with its cells: the first of them in the order of groups and cells, and the one on the other side.
struct Facet {
  FacetRef first;
  FacetRef second{-1, -1, -1}; ///< the default where no cell of this process is on the other side
  /// Codes of element::orientation with which the first and the second cell see the facet, relative to the canonical
  /// frame that the global vertex numbers define: canonical_points takes points from the frame of either to that one.
  std::array<std::uint8_t, 2> orientations{0, 0};
  bool has_second() const { return second.group >= 0; }
  bool operator==(const Facet&) const = default;
};

/// All facets of the cells of this process, each once: facets that periodic facets identify are one, with a cell on
/// either side.
struct Facets {
  std::vector<Facet> facets; ///< in the order in which cells have them first
  /// Number of the facet of each side, shape (group)(cell, local facet): facets[of_groups[g][cell * num_facets + f]]
  /// has (g, cell, f) as its first or its second side.
  std::vector<std::vector<std::int32_t>> of_groups;
};

/// Makes the facets from the topology of a mesh, in O(n). Facets without a second cell are those of
/// Surface::exterior_facets, and in a part of a mesh those that it shares with other processes
/// (Distribution::interface_facets). Throws what Mesh::topology throws.
Facets make_facets(const Mesh& mesh);

} // namespace rafter::mesh
