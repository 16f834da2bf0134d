// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/cell.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::element {
namespace {

/// The data that define a shape; everything else about it is derived from them. Corners and vertex lists are written as
/// words of digits: one word per vertex with a digit per axis (0: -1, 1: +1), one word per edge or face with a digit
/// per vertex.
struct Definition {
  std::string_view name;
  int dim;
  bool is_tensor;
  double unit_volume; ///< volume of the same cell in [0,1]^d
  std::string_view corners, edges, faces;
};

/// Shapes in the order of the enum. Their numbering is that of Basix (https://docs.fenicsproject.org/basix, "cell
/// numbering").
constexpr std::array<Definition, 8> definitions{{
    {"point", 0, false, 1, "", "", ""},
    {"interval", 1, true, 1, "0 1", "01", ""},
    {"triangle", 2, false, 1. / 2, "00 10 01", "12 02 01", "012"},
    {"quadrilateral", 2, true, 1, "00 10 01 11", "01 02 13 23", "0123"},
    {"tetrahedron", 3, false, 1. / 6, "000 100 010 001", "23 13 12 03 02 01", "123 023 013 012"},
    {"hexahedron", 3, true, 1, "000 100 010 110 001 101 011 111", "01 02 04 13 15 23 26 37 45 46 57 67",
     "0123 0145 0246 1357 2367 4567"},
    {"prism", 3, false, 1. / 2, "000 100 010 001 101 011", "01 02 03 12 14 25 34 35 45", "012 0134 0235 1245 345"},
    {"pyramid", 3, false, 1. / 3, "000 100 010 110 001", "01 02 04 13 14 23 24 34", "0123 014 024 134 234"},
}};

std::vector<std::vector<int>> digits(std::string_view words) {
  std::vector<std::vector<int>> result;
  bool inside = false;
  for (const char c : words) {
    if (c != ' ' && !inside) result.emplace_back();
    inside = c != ' ';
    if (inside) result.back().push_back(c - '0');
  }
  return result;
}

static_assert(std::ranges::equal(definitions, shape_dimensions, {}, &Definition::dim));

struct Topology {
  std::vector<double> vertices;                                 ///< shape (vertex, dimension)
  std::array<std::vector<std::vector<int>>, 4> entity_vertices; ///< vertices of each entity, by dimension and entity
};

Topology make_topology(const Definition& definition) {
  Topology result;
  for (const auto& corner : digits(definition.corners))
    for (const int digit : corner) result.vertices.push_back(2. * digit - 1);
  const int num_vertices = definition.dim == 0 ? 1 : static_cast<int>(digits(definition.corners).size());
  for (int v = 0; v < num_vertices; ++v) result.entity_vertices[0].push_back({v});
  result.entity_vertices[1] = digits(definition.edges);
  result.entity_vertices[2] = digits(definition.faces);
  if (definition.dim == 3) {
    std::vector<int> all(static_cast<std::size_t>(num_vertices));
    std::iota(all.begin(), all.end(), 0);
    result.entity_vertices[3] = {all};
  }
  return result;
}

const Definition& definition(Shape shape) {
  const auto index = static_cast<std::size_t>(shape);
  if (index >= definitions.size()) throw base::InternalError("element: no cell shape number " + std::to_string(index));
  return definitions[index];
}

const Topology& topology(Shape shape) {
  static const auto all = [] {
    std::array<Topology, definitions.size()> result;
    std::ranges::transform(definitions, result.begin(), make_topology);
    return result;
  }();
  definition(shape); // throws for numbers that are no shape
  return all[static_cast<std::size_t>(shape)];
}

const std::vector<std::vector<int>>& entities(Shape shape, int dim) {
  if (dim < 0 || dim > dimension(shape))
    throw base::InternalError("element: " + std::string(name(shape)) + " has no sub-entities of dimension " +
                              std::to_string(dim));
  return topology(shape).entity_vertices[static_cast<std::size_t>(dim)];
}

using Vector = std::array<double, 3>;

/// Coordinates of a vertex, padded with zeros to three.
Vector vertex(Shape shape, int number) {
  const int dim = dimension(shape);
  const auto all = reference_vertices(shape);
  Vector result{};
  for (int i = 0; i < dim; ++i) result[i] = all[number * dim + i];
  return result;
}

Vector difference(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector centre(Shape shape) {
  Vector result{};
  for (int v = 0; v < num_vertices(shape); ++v)
    for (int i = 0; i < 3; ++i) result[i] += vertex(shape, v)[i] / num_vertices(shape);
  return result;
}

} // namespace

std::string_view name(Shape shape) { return definition(shape).name; }
bool is_tensor(Shape shape) { return definition(shape).is_tensor; }
double reference_volume(Shape shape) { return std::ldexp(definition(shape).unit_volume, dimension(shape)); }

Shape shape_from_name(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i].name == name) return static_cast<Shape>(i);
    names.emplace_back(definitions[i].name);
  }
  throw base::InputError("unknown cell shape '" + std::string(name) + "'" + base::suggestion(name, names) +
                         "; accepted: " + base::join(names, ", "));
}

int num_entities(Shape shape, int dim) { return static_cast<int>(entities(shape, dim).size()); }

std::span<const int> entity_vertices(Shape shape, int dim, int entity) {
  const auto& all = entities(shape, dim);
  if (entity < 0 || entity >= static_cast<int>(all.size()))
    throw base::InternalError("element: " + std::string(name(shape)) + " has no sub-entity " + std::to_string(entity) +
                              " of dimension " + std::to_string(dim));
  return all[static_cast<std::size_t>(entity)];
}

Shape entity_shape(Shape shape, int dim, int entity) {
  const auto vertices = entity_vertices(shape, dim, entity);
  if (dim == dimension(shape)) return shape;
  if (dim == 0) return Shape::point;
  if (dim == 1) return Shape::interval;
  return vertices.size() == 3 ? Shape::triangle : Shape::quadrilateral;
}

std::span<const double> reference_vertices(Shape shape) { return topology(shape).vertices; }

int axis_vertex(Shape shape, int axis) {
  for (int v = 1; v < num_vertices(shape); ++v) {
    const Vector step = difference(vertex(shape, v), vertex(shape, 0));
    if (step[axis] == 2 && dot(step, step) == 4) return v;
  }
  throw base::InternalError("element: no vertex along the axis");
}

std::array<double, 3> reference_normal(Shape shape, int facet) {
  const int dim = dimension(shape);
  const auto corners = entity_vertices(shape, dim - 1, facet);
  const Vector origin = vertex(shape, corners[0]);
  Vector normal{1, 0, 0};
  if (dim == 2) normal = cross(difference(vertex(shape, corners[1]), origin), {0, 0, 1});
  if (dim == 3)
    normal = cross(difference(vertex(shape, corners[1]), origin), difference(vertex(shape, corners[2]), origin));
  const double length = std::sqrt(dot(normal, normal));
  const bool points_out = dot(normal, difference(origin, centre(shape))) > 0;
  for (double& component : normal)
    if (component != 0) component /= points_out ? length : -length; // zeros are skipped, so that they stay positive
  return normal;
}

std::vector<double> map_to_cell(Shape shape, int dim, int entity, std::span<const double> points) {
  const auto corners = entity_vertices(shape, dim, entity);
  const Shape own = entity_shape(shape, dim, entity);
  const int cell_dim = dimension(shape);
  const Vector origin = vertex(shape, corners[0]);
  const std::size_t num_points = dim == 0 ? 1 : points.size() / static_cast<std::size_t>(dim);
  std::vector<double> result(num_points * static_cast<std::size_t>(cell_dim));
  std::array<Vector, 3> axes{};
  for (int k = 0; k < dim; ++k) axes[k] = difference(vertex(shape, corners[axis_vertex(own, k)]), origin);
  for (std::size_t p = 0; p < num_points; ++p)
    for (int i = 0; i < cell_dim; ++i) {
      double x = origin[i];
      for (int k = 0; k < dim; ++k) x += 0.5 * (points[p * dim + k] + 1) * axes[k][i];
      result[p * cell_dim + i] = x;
    }
  return result;
}

} // namespace rafter::element
