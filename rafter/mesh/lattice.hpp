// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <span>
#include <vector>

#include <rafter/element/element.hpp>

/// Nodes of high-order cells in mesh files, as points of an integer lattice.
///
/// The lattice of degree p consists of the points with x, y, z in 0..p on tensor cells; x + y <= p on triangles and in
/// the triangle of prisms; x + y + z <= p on tetrahedra; max(x, y) + z <= p on pyramids. 0 and p are the coordinates -1
/// and 1 of the reference cell.
namespace rafter::mesh {

using LatticePoint = std::array<int, 3>;

/// Lattice points in the order of Gmsh's nodes: corners, inner points of edges, of faces, of the cell, each set being a
/// smaller lattice in the same order (Gmsh reference manual, "Node ordering"). Corners, edges and faces are numbered as
/// in Gmsh, which has the corner order of MFEM: quadrilaterals counter-clockwise.
std::vector<LatticePoint> gmsh_lattice(element::Shape shape, int degree);

/// Positions of lattice points in a list: index[(z * (p+1) + y) * (p+1) + x], -1 for points that it does not have.
std::vector<int> lattice_index(int degree, std::span<const LatticePoint> lattice);
inline std::size_t lattice_key(int degree, const LatticePoint& p) {
  const auto n = static_cast<std::size_t>(degree) + 1;
  return (static_cast<std::size_t>(p[2]) * n + static_cast<std::size_t>(p[1])) * n + static_cast<std::size_t>(p[0]);
}

/// Lattice point at a vertex of Rafter's reference cell.
LatticePoint lattice_vertex(element::Shape shape, int degree, int vertex);

/// Spacing of the nodes: equispaced (Gmsh), or Gauss-Lobatto points, on simplices by normalised products of barycentric
/// Gauss-Lobatto coordinates (MFEM's H1 elements).
enum class Spacing : std::uint8_t { equispaced, gauss_lobatto };

/// Reference coordinates of lattice points, shape (point, dimension). Points of a cell on one of its entities are the
/// points of the entity's own shape. The exception are pyramids of degree 3 and more with Gauss-Lobatto spacing, which
/// MFEM does not have.
std::vector<double> lattice_positions(element::Shape shape, int degree, std::span<const LatticePoint> lattice,
                                      Spacing spacing);

/// Returns for each point of the lattice of the element's degree the dof of the element that corresponds to it, shape
/// (lattice point): it has the same place in vertices, edges, faces and the interior, although the element's nodes are
/// not quite equispaced.
std::vector<std::size_t> matching_dofs(const element::Element& element, std::span<const LatticePoint> lattice);

} // namespace rafter::mesh
