// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// Symmetries of cells by which dense matrices split into blocks, as 1D matrices split by even and odd functions.
namespace rafter::element {

/// An affine map of a reference cell to itself, x -> matrix x + offset, that is its own inverse.
struct Reflection {
  std::vector<double> matrix; ///< shape (dimension, dimension), row-major
  std::vector<double> offset; ///< shape (dimension)
};

/// Reflections that commute with each other. Triangles exchange vertices 0 and 1; tetrahedra 0 and 1, and 2 and 3;
/// prisms the vertices that their triangles exchange, and the two triangles; pyramids reverse the first or the second
/// axis of their base. Tensor shapes have none, since 1D matrices serve them.
const std::vector<Reflection>& reflections(Shape shape);
inline constexpr unsigned max_reflections = 2; ///< largest number of reflections of any shape

/// Directions of which every reflection keeps or reverses each, one per row, shape (dimension, dimension), with
/// determinant 1; the unit vectors where there are no reflections.
std::vector<double> reflection_frame(Shape shape);

/// The reflections that reverse direction `direction` of the frame, as bits.
unsigned direction_parity(Shape shape, int direction);

/// Images of points under a reflection, shape (point, dimension).
std::vector<double> reflected(const Reflection& reflection, std::span<const double> points);

/// permutation[i] is the number of the point to which reflection r of the shape maps point i; nothing when some point
/// has no image among the points (to 1e-10).
std::optional<std::vector<int>> reflection_permutation(Shape shape, int r, std::span<const double> points);

} // namespace rafter::element
