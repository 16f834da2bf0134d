// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <vector>

#include <rafter/element/cell.hpp>

/// Splits of one interval, square or cube of a box into cells.
namespace rafter::mesh {

/// One cell of a split cube. Its vertices, in the order of the cell's reference vertices, are corners of the cube (0 ..
/// 2^dim - 1, lexicographic, first axis fastest) or its centre (`cube_centre`); det J > 0.
struct CubeCell {
  element::Shape shape = element::Shape::hexahedron;
  std::array<int, 8> vertices{};
};
inline constexpr int cube_centre = 8;

/// Number of cells along x that a box of shape "mixed" needs, so that each of its shapes gets a column.
constexpr int least_mixed_columns(int dim) { return dim == 2 ? 2 : 4; }

/// A split cube. Opposite faces of cubes of one kind match, so that equal cubes side by side conform.
struct CubeSplit {
  std::vector<CubeCell> cells;
  bool has_centre = false;
};

/// The split of a cube of dimension dimension(shape) into cells of that shape: 1 tensor cell, 2 triangles, 6 tetrahedra
/// (Kuhn: one for each path along the axes from the lowest to the highest corner), 2 prisms (with triangles in the xy
/// plane), or 6 pyramids (with apex in the centre).
CubeSplit split_into(element::Shape shape);

/// The split of a cube between cubes with quadrilateral faces on its left and Kuhn tetrahedra on its right (first
/// axis): pyramids to the centre over five faces, two tetrahedra over the right face.
CubeSplit split_between_hexahedra_and_tetrahedra();

} // namespace rafter::mesh
