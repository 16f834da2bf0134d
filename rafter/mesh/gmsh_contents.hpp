// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/gmsh_types.hpp>
#include <rafter/mesh/mesh.hpp>

/// The contents that are written of a mesh into a .msh file of any version of the format.
namespace rafter::mesh {

/// Elements of one type in one geometric entity; there is one entity per dimension and set of physical groups.
struct GmshBlock {
  GmshType type;
  std::vector<std::int32_t> groups; ///< physical groups of the entity
  int entity = 0;                   ///< number of the entity, from 1 in each dimension
  std::vector<std::int32_t> nodes;  ///< node numbers from 0, shape (element, node)

  int dim() const { return element::dimension(type.shape); }
  std::size_t num_elements() const { return nodes.size() / static_cast<std::size_t>(type.num_nodes); }
};

struct GmshContents {
  std::vector<double> coordinates; ///< coordinates of the nodes, shape (node, 3)
  std::vector<GmshBlock> blocks;   ///< blocks of the tagged facets, then of the cells, each sorted by entity

  std::size_t num_nodes() const { return coordinates.size() / 3; }
  std::size_t num_elements() const;
};

/// Nodes are equispaced in their cells, as in Gmsh, and shared by neighbours. Throws InputError for geometry of a
/// degree that the format does not have, and for periodic meshes.
GmshContents gmsh_contents(const Mesh& mesh);

} // namespace rafter::mesh
