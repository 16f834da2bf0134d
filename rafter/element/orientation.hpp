// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// Orientation of shared edges and faces: two cells see them with different local vertex orders. Degrees of freedom of
/// the entity are stored once, in its canonical frame, which the global vertex numbers define: the origin is the vertex
/// with the lowest number, then come its neighbours in ascending order (triangle: ascending vertices; quadrilateral:
/// the first axis points to the lower-numbered neighbour).
namespace rafter::element {

/// Number of orientations of an entity: 1 (point), 2 (interval), 6 (triangle), 8 (quadrilateral).
int num_orientations(Shape entity);

/// Orientation code in 0 .. num_orientations-1 of an entity as a cell sees it. `global_vertices` holds the global
/// numbers of its vertices in the order in which the cell lists them. Code 0: this order is canonical.
int orientation(Shape entity, std::span<const std::int64_t> global_vertices);

/// Order of the vertices: permutation[k] is the canonical position of the vertex that the cell lists as number k.
std::span<const int> vertex_permutation(Shape entity, int code);

/// Maps points from the frame in which a cell sees an entity of dimension 1 or 2 to its canonical frame. Both have
/// shape (point, dimension).
std::vector<double> canonical_points(Shape entity, int code, std::span<const double> points);

} // namespace rafter::element
