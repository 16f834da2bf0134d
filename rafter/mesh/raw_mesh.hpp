// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Cells as a file gives them.
struct RawCells {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1;
  std::vector<std::int32_t>
      nodes; ///< rows of RawMesh::coordinates, shape (cell, lattice point), in the order of gmsh_lattice
  std::vector<std::int32_t> vertices; ///< shape (cell, vertex), Rafter's order; empty: vertices are the corner nodes
  std::vector<std::int32_t> tags;     ///< shape (cell)
};

/// What every reader fills. Node and vertex numbers may have gaps; assemble() drops what no cell uses.
struct RawMesh {
  std::string source;
  int tdim = 3;
  std::vector<double> coordinates; ///< shape (node, 3)
  std::int32_t num_vertices = 0;   ///< vertex numbers are below this; without RawCells::vertices, the number of nodes
  Spacing spacing = Spacing::equispaced;
  bool is_continuous = true;       ///< false: every cell has nodes of its own (periodic meshes)
  std::vector<RawCells> cells;     ///< one per (shape, degree)
  std::vector<TaggedFacet> facets; ///< vertex numbers as in the cells
  std::map<std::string, std::pair<int, std::int32_t>> tag_names;
};

/// The cells of a shape and degree, added when new.
RawCells& cells_of(RawMesh& raw, element::Shape shape, int degree);

/// Numbers vertices and nodes and converts geometry. Throws InputError for meshes without cells, and for plane meshes
/// that leave their plane.
Mesh assemble(RawMesh raw);

} // namespace rafter::mesh
