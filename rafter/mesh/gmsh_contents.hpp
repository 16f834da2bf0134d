// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/gmsh_types.hpp>
#include <rafter/mesh/mesh.hpp>

/// What a mesh puts into a .msh file, the same for all versions of the format.
namespace rafter::mesh {

/// Elements of one type in one entity; there is one entity per dimension and tag.
struct GmshBlock {
  GmshType type;
  std::int32_t tag = 0;            ///< physical group of the entity; 0: none
  int entity = 0;                  ///< from 1 in each dimension
  std::vector<std::int32_t> nodes; ///< shape (element, node), from 0

  int dim() const { return element::dimension(type.shape); }
  std::size_t num_elements() const { return nodes.size() / static_cast<std::size_t>(type.num_nodes); }
};

struct GmshContents {
  std::vector<double> coordinates; ///< of the nodes, shape (node, 3)
  std::vector<GmshBlock> blocks;   ///< those of the tagged facets, then those of the cells; of each by tag

  std::size_t num_nodes() const { return coordinates.size() / 3; }
  std::size_t num_elements() const;
};

/// Nodes are equispaced in their cells, as Gmsh has them, and shared by neighbours. Throws InputError for geometry of a
/// degree that the format does not have and for periodic meshes.
GmshContents gmsh_contents(const Mesh& mesh);

} // namespace rafter::mesh
