// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/element/cell.hpp>

/// VTK numbers the points of its cells in its own order, which this file knows.
namespace rafter::io {

/// A point of the lattice of spacing 1/order on a cell, whose first vertex is the origin: the reference coordinate of
/// an index is -1 + 2 index / order.
using LatticePoint = std::array<int, 3>;

/// VTK's Lagrange cells have at most this order.
inline constexpr int max_vtk_order = 10;

/// Returns the points of VTK's Lagrange cell of a shape in VTK's order (vertices, edges, faces, interior; as of VTK 9).
/// Pyramids are not accepted, since ParaView has no usable Lagrange cell for them.
std::vector<LatticePoint> lagrange_lattice(element::Shape shape, int order);

/// One cell of the mesh becomes one or several cells of the file, which all refer to one list of lattice points.
struct VtkCells {
  std::vector<LatticePoint> points;
  std::vector<std::uint8_t> types;            ///< VTK cell type, shape (cell)
  std::vector<std::vector<int>> connectivity; ///< indices of `points`, shape (cell, point)
};

/// Returns one Lagrange cell (a linear cell for order 1). A pyramid is split into O(order^3) linear pyramids and
/// tetrahedra.
VtkCells make_vtk_cells(element::Shape shape, int order);

} // namespace rafter::io
