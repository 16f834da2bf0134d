// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// Two cells that share an edge or a face see it with different local vertex orders. Degrees of freedom of the entity
/// are stored once, in the entity's canonical frame, which the global vertex numbers define: origin = the vertex with
/// the lowest number, then the neighbour(s) of the origin in ascending number (triangle: ascending; quadrilateral:
/// first axis towards the lower-numbered neighbour).
namespace rafter::element {

/// Number of orientations of an entity: 1 (point), 2 (interval), 6 (triangle), 8 (quadrilateral).
int num_orientations(Shape entity);

/// Orientation code in 0 .. num_orientations-1 of an entity whose vertices, in the order that a cell lists them, carry
/// these global numbers. Code 0: the cell's order is canonical already.
int orientation(Shape entity, std::span<const std::int64_t> global_vertices);

/// permutation[k] = canonical position of the vertex that the cell lists as number k.
std::span<const int> vertex_permutation(Shape entity, int code);

/// Points that a cell sees on the entity, in the entity's canonical frame: their images under the symmetry that moves
/// the vertices. Shape (point, dimension) of both; an entity of dimension 1 or 2.
std::vector<double> canonical_points(Shape entity, int code, std::span<const double> points);

} // namespace rafter::element
