// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <vector>

#include <rafter/element/cell.hpp>

/// How one interval, square or cube of a box is split into cells.
namespace rafter::mesh {

/// One cell of a split cube. Vertices are corners of the cube (0 .. 2^dim - 1, lexicographic, first axis fastest) or
/// its centre (`cube_centre`), in the order of the cell's reference vertices; det J > 0.
struct BoxPiece {
  element::Shape shape = element::Shape::hexahedron;
  std::array<int, 8> vertices{};
};
inline constexpr int cube_centre = 8;

/// Cells along x that a box of shape "mixed" needs: one column of each of its shapes.
constexpr int least_mixed_columns(int dim) { return dim == 2 ? 2 : 4; }

/// A split cube. Opposite faces of cubes of one kind match, so that equal cubes side by side conform.
struct CubeSplit {
  std::vector<BoxPiece> pieces;
  bool has_centre = false;
};

/// The split of a cube of dimension dimension(shape) into cells of that shape: tensor cells 1, triangles 2, tetrahedra
/// 6 (Kuhn: one per path along the axes from the lowest to the highest corner), prisms 2 (triangles in the xy plane),
/// pyramids 6 (apex in the centre).
CubeSplit split_into(element::Shape shape);

/// A cube between cubes with quadrilateral faces on the left and Kuhn tetrahedra on the right (first axis): pyramids to
/// the centre over five faces, two tetrahedra over the right one.
CubeSplit split_between_hexahedra_and_tetrahedra();

} // namespace rafter::mesh
