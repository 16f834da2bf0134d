// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Numbering of geometry nodes, and those of straight cells.
namespace rafter::mesh {

/// Fills `nodes` of every group from its vertices and degree so that cells of one degree share the nodes on their
/// common entities. Node v is vertex v; the nodes inside edges, faces and cells follow. Returns the number of nodes.
/// Throws InputError when 32 bits do not suffice.
std::int32_t number_shared_nodes(Mesh& mesh);

/// Each cell gets nodes of its own. For meshes whose geometry jumps between cells (periodic ones).
std::int32_t number_separate_nodes(Mesh& mesh);

/// Gives a mesh of straight cells of degree 1 with node v at vertex v the geometry degree `degree`: the nodes of the
/// Lagrange element of that degree on the same (multi)linear cells.
void raise_geometry_degree(Mesh& mesh, int degree);

/// Local node of every vertex of a cell of the group, shape (vertex).
std::vector<int> vertex_nodes(const element::Element& geometry);

/// Values of the Lagrange functions of degree 1 on the shape at reference points, shape (point, vertex). The map that
/// they define is affine on simplices and multilinear on tensor cells.
std::vector<double> vertex_functions(element::Shape shape, std::span<const double> points);

} // namespace rafter::mesh
