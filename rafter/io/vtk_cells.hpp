// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/element/cell.hpp>

/// How VTK numbers the points of its cells.
namespace rafter::io {

/// A point of the lattice of spacing 1/order on a cell whose first vertex is the origin (reference coordinate -1 + 2
/// index / order).
using LatticePoint = std::array<int, 3>;

/// Highest order that VTK's Lagrange cells have.
inline constexpr int max_vtk_order = 10;

/// Points of VTK's Lagrange cell of a shape in VTK's order (vertices, edges, faces, interior; as of VTK 9). Not for
/// pyramids, for which ParaView has no usable cell.
std::vector<LatticePoint> lagrange_lattice(element::Shape shape, int order);

/// Cells that one cell of the mesh becomes in the file; all refer to one list of lattice points.
struct VtkCells {
  std::vector<LatticePoint> points;
  std::vector<std::uint8_t> types;            ///< VTK cell type, shape (cell)
  std::vector<std::vector<int>> connectivity; ///< indices of `points`, shape (cell, point)
};

/// One Lagrange cell (order 1: a linear cell); a pyramid becomes order^3-like many linear pyramids and tetrahedra.
VtkCells make_vtk_cells(element::Shape shape, int order);

} // namespace rafter::io
