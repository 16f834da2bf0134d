// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Cells of one shape and degree, as a file gives them.
struct RawCells {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1;
  std::vector<std::int32_t>
      nodes; ///< rows of RawMesh::coordinates, shape (cell, lattice point), in the order of gmsh_lattice
  /// Shape (cell, vertex), in Rafter's order; empty when the vertices are the corner nodes.
  std::vector<std::int32_t> vertices;
  std::vector<std::int32_t> tags; ///< tags of RawMesh::physical_groups, shape (cell)
  /// Geometric entity of each cell: those of one entity have one orientation, which may be the wrong one in plane
  /// meshes and on lines. Empty: all have the right one.
  std::vector<std::int32_t> entities;
};

/// The mesh that every reader fills. Node and vertex numbers may have gaps; assemble() drops those that no cell uses.
/// Cells and facets may come once for each of their groups, in any order, or with the class of all of them.
struct RawMesh {
  std::string source;
  int tdim = 3;
  std::vector<double> coordinates; ///< shape (node, 3)
  /// Vertex numbers are below this; without RawCells::vertices it is the number of nodes.
  std::int32_t num_vertices = 0;
  Spacing spacing = Spacing::equispaced;
  bool is_continuous = true;       ///< false when every cell has nodes of its own (periodic meshes)
  std::vector<RawCells> cells;     ///< one entry per (shape, degree)
  std::vector<TaggedFacet> facets; ///< tagged facets, with vertex numbers as in the cells
  PhysicalGroups physical_groups;
};

/// The cells of this shape and degree in `raw`, which are added if there are none.
RawCells& cells_of(RawMesh& raw, element::Shape shape, int degree);

/// Makes the mesh: merges what is listed several times, turns plane cells, numbers classes, vertices and nodes, and
/// converts the geometry. Throws InputError for meshes without cells, and for plane meshes or lines with nodes outside
/// of their plane or line.
Mesh assemble(RawMesh raw);

} // namespace rafter::mesh
