// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Cell shapes and their sub-entities.
///
/// Reference cells lie in [-1,1]^d. Vertices: interval -1, 1; quadrilateral and hexahedron lexicographic, first
/// coordinate fastest; triangle (-1,-1), (1,-1), (-1,1); tetrahedron (-1,-1,-1) and one step of 2 along each axis;
/// prism = triangle x interval (vertices 0-2 at z=-1, 3-5 at z=1); pyramid = base quadrilateral 0-3 at z=-1
/// (lexicographic), apex 4 at (-1,-1,1). Sub-entities are numbered as in Basix (lexicographic tuples; on simplices
/// entity i lies opposite vertex i), each with its vertices in ascending local number; quadrilateral faces are
/// therefore lexicographic too.
namespace rafter::element {

enum class Shape : std::uint8_t { point, interval, triangle, quadrilateral, tetrahedron, hexahedron, prism, pyramid };

/// All cell shapes of dimension 1 to 3, in the order of the enum.
inline constexpr std::array all_cell_shapes{Shape::interval,    Shape::triangle,   Shape::quadrilateral,
                                            Shape::tetrahedron, Shape::hexahedron, Shape::prism,
                                            Shape::pyramid};

/// Dimensions and numbers of vertices in the order of the enum: loops over cells ask for them.
inline constexpr std::array<std::int8_t, 8> shape_dimensions{0, 1, 2, 2, 3, 3, 3, 3},
    shape_vertices{1, 2, 3, 4, 4, 8, 6, 5};

inline int dimension(Shape shape) { return shape_dimensions[static_cast<std::size_t>(shape)]; }
std::string_view name(Shape shape);
/// Shape with this name. Throws InputError, with the nearest name as a suggestion, if there is none.
Shape shape_from_name(std::string_view name);

/// Number of sub-entities of a dimension (dim <= dimension(shape)).
int num_entities(Shape shape, int dim);
Shape entity_shape(Shape shape, int dim, int entity);
/// Local vertex numbers of a sub-entity, ascending.
std::span<const int> entity_vertices(Shape shape, int dim, int entity);
inline int num_vertices(Shape shape) { return shape_vertices[static_cast<std::size_t>(shape)]; }
inline int num_facets(Shape shape) { return num_entities(shape, dimension(shape) - 1); }
inline Shape facet_shape(Shape shape, int facet) { return entity_shape(shape, dimension(shape) - 1, facet); }

/// Reference coordinates of the vertices, shape (vertex, dimension), row-major.
std::span<const double> reference_vertices(Shape shape);
/// Number of the vertex one step of 2 from vertex 0 along an axis; affine maps are given by vertex 0 and these.
int axis_vertex(Shape shape, int axis);
double reference_volume(Shape shape);

/// True for interval, quadrilateral and hexahedron, on which nodal elements are products of 1D functions.
bool is_tensor(Shape shape);

/// True for interval, triangle and tetrahedron, on which maps given by the vertices are affine.
inline bool is_simplex(Shape shape) { return num_vertices(shape) == dimension(shape) + 1; }

/// Outward unit normal of a facet in reference coordinates.
std::array<double, 3> reference_normal(Shape shape, int facet);

/// Maps points affinely from the reference cell of a sub-entity into its cell. Shape (point, dim) of `points`, (point,
/// dimension of the cell) of the result. For dim = 0 the result is the vertex, one row.
std::vector<double> map_to_cell(Shape shape, int dim, int entity, std::span<const double> points);

} // namespace rafter::element
