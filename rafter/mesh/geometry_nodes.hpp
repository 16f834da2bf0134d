// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Numbers geometry nodes, and places those of straight cells.
namespace rafter::mesh {

/// Fills `nodes` of every group, according to its vertices and degree, so that cells of one degree share the nodes on
/// their common entities. Node v is vertex v; nodes inside edges, faces and cells follow. Returns the number of nodes.
/// Throws InputError when it exceeds 32 bits.
std::int32_t number_shared_nodes(Mesh& mesh);

/// Gives each cell nodes of its own, for meshes whose geometry jumps between cells (periodic ones). Returns the number
/// of nodes; throws InputError when it exceeds 32 bits.
std::int32_t number_separate_nodes(Mesh& mesh);

/// Gives the geometry degree `degree` to a mesh of straight cells of degree 1 with node v at vertex v. New nodes are
/// those of the Lagrange element of that degree on the same (multi)linear cells.
void raise_geometry_degree(Mesh& mesh, int degree);

/// Local number of the node at each vertex of a cell with this geometry element, shape (vertex).
std::vector<int> vertex_nodes(const element::Element& geometry);

/// Values of the Lagrange functions of degree 1 at reference points, shape (point, vertex). The cell map that they
/// define is affine on simplices and multilinear on tensor cells.
std::vector<double> vertex_functions(element::Shape shape, std::span<const double> points);

} // namespace rafter::mesh
