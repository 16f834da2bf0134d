// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/mesh/mesh.hpp>

/// Describes places in a mesh for messages, in terms that users can look up in the file or in a viewer.
namespace rafter::mesh {

/// Text such as "(0.5, 0, 1)".
std::string describe_point(std::span<const double> x);

/// Text such as "the nearest node of the mesh is (1, 0), 0.001 away" about a point x outside, shape (gdim), for whoever
/// takes the curved surface that cells approximate for their own.
std::string describe_nearest_node(const Mesh& mesh, std::span<const double> x);

/// Text such as "hexahedron 7 at (0.5, 0.5, 1)": number among the cells of its shape, from 0 in file order, and the
/// mean of its vertices.
std::string describe_cell(const Mesh& mesh, std::int32_t group, std::int32_t cell);

/// Begin of messages about a mesh: "file.msh: ", or "" for a mesh without a file.
std::string prefix(const Mesh& mesh);

/// Coordinates of the vertices of a cell, shape (vertex, gdim), taken from the cell's own geometry nodes.
std::vector<double> cell_vertex_coordinates(const Mesh& mesh, std::int32_t group, std::int32_t cell);

} // namespace rafter::mesh
