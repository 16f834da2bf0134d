// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/lattice.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/element/quadrature.hpp>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Corners, edges and faces in Gmsh's numbering, as words of digits: corners with one digit per axis, edges and faces
/// with one digit per corner. The first corner is the origin of the entity's own lattice, the second gives its first
/// axis, and the last its second.
struct Numbering {
  std::string_view corners, edges, faces;
};

Numbering numbering(Shape shape) {
  switch (shape) {
  case Shape::point:
    return {"000", "", ""};
  case Shape::interval:
    return {"000 100", "01", ""};
  case Shape::triangle:
    return {"000 100 010", "01 12 20", ""};
  case Shape::quadrilateral:
    return {"000 100 110 010", "01 12 23 30", ""};
  case Shape::tetrahedron:
    return {"000 100 010 001", "01 12 20 30 32 31", "021 013 032 312"};
  case Shape::hexahedron:
    return {"000 100 110 010 001 101 111 011", "01 03 04 12 15 23 26 37 45 47 56 67", "0321 0154 0473 1265 2376 4567"};
  case Shape::prism:
    return {"000 100 010 001 101 011", "01 02 03 12 14 25 34 35 45", "021 345 0143 0352 1254"};
  case Shape::pyramid:
    return {"000 100 110 010 001", "01 03 04 12 14 23 24 34", "014 304 124 234 0321"};
  }
  throw base::InternalError("mesh: no lattice for this shape");
}

std::vector<std::vector<int>> digits(std::string_view words) {
  std::vector<std::vector<int>> result;
  char previous = ' ';
  for (const char c : words) {
    if (c != ' ' && previous == ' ') result.emplace_back();
    if (c != ' ') result.back().push_back(c - '0');
    previous = c;
  }
  return result;
}

/// The point origin + i a + j b, where a and b are the unit steps from the origin towards two corners.
LatticePoint step(const LatticePoint& origin, const LatticePoint& to_a, const LatticePoint& to_b, int degree, int i,
                  int j) {
  LatticePoint p{};
  for (std::size_t d = 0; d < 3; ++d)
    p[d] = origin[d] + i * (to_a[d] - origin[d]) / degree + j * (to_b[d] - origin[d]) / degree;
  return p;
}

void add_shifted(std::vector<LatticePoint>& points, std::vector<LatticePoint> inner) {
  for (auto& p : inner) points.push_back({p[0] + 1, p[1] + 1, p[2] + 1});
}

/// Adds the points inside the cell (not on its boundary).
void add_interior(std::vector<LatticePoint>& points, Shape shape, int degree) {
  switch (shape) {
  case Shape::triangle:
    for (const auto& p : gmsh_lattice(shape, degree - 3)) points.push_back({p[0] + 1, p[1] + 1, 0});
    return;
  case Shape::quadrilateral:
    for (const auto& p : gmsh_lattice(shape, degree - 2)) points.push_back({p[0] + 1, p[1] + 1, 0});
    return;
  case Shape::tetrahedron:
    return add_shifted(points, gmsh_lattice(shape, degree - 4));
  case Shape::hexahedron:
    return add_shifted(points, gmsh_lattice(shape, degree - 2));
  case Shape::pyramid:
    return add_shifted(points, gmsh_lattice(shape, degree - 3));
  case Shape::prism: // Gmsh numbers the interior of all shapes but prisms recursively as a smaller lattice
    for (const auto& t : gmsh_lattice(Shape::triangle, degree - 3))
      for (const auto& s : gmsh_lattice(Shape::interval, degree - 2)) points.push_back({t[0] + 1, t[1] + 1, s[0] + 1});
    return;
  default:
    return;
  }
}

} // namespace

std::vector<LatticePoint> gmsh_lattice(Shape shape, int degree) {
  if (degree < 0) return {};
  if (degree == 0) return {{0, 0, 0}};
  const auto table = numbering(shape);
  std::vector<LatticePoint> points;
  for (const auto& corner : digits(table.corners))
    points.push_back({corner[0] * degree, corner[1] * degree, corner[2] * degree});
  const auto corners = points;
  const auto at = [&corners](int c) { return corners[static_cast<std::size_t>(c)]; };
  for (const auto& edge : digits(table.edges))
    for (int i = 1; i < degree; ++i) points.push_back(step(at(edge[0]), at(edge[1]), at(edge[0]), degree, i, 0));
  for (const auto& face : digits(table.faces)) {
    const bool is_triangle = face.size() == 3;
    for (const auto& p :
         gmsh_lattice(is_triangle ? Shape::triangle : Shape::quadrilateral, degree - (is_triangle ? 3 : 2)))
      points.push_back(step(at(face[0]), at(face[1]), at(face.back()), degree, p[0] + 1, p[1] + 1));
  }
  if (shape == Shape::interval) return points;
  add_interior(points, shape, degree);
  return points;
}

std::vector<int> lattice_index(int degree, std::span<const LatticePoint> lattice) {
  const auto n = static_cast<std::size_t>(degree) + 1;
  std::vector<int> index(n * n * n, -1);
  for (std::size_t i = 0; i < lattice.size(); ++i) index[lattice_key(degree, lattice[i])] = static_cast<int>(i);
  return index;
}

LatticePoint lattice_vertex(Shape shape, int degree, int vertex) {
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  const auto corners = element::reference_vertices(shape);
  LatticePoint p{};
  for (std::size_t d = 0; d < dim; ++d) p[d] = corners[static_cast<std::size_t>(vertex) * dim + d] > 0 ? degree : 0;
  return p;
}

std::vector<double> lattice_positions(Shape shape, int degree, std::span<const LatticePoint> lattice, Spacing spacing) {
  std::vector<double> nodes; // coordinates in [0, 1]
  if (spacing == Spacing::gauss_lobatto)
    for (const double x : element::gauss_lobatto(degree + 1).points) nodes.push_back((1 + x) / 2);
  else
    for (int i = 0; i <= degree; ++i) nodes.push_back(static_cast<double>(i) / degree);
  const int dim = element::dimension(shape);
  const int simplex_dim = shape == Shape::triangle || shape == Shape::prism ? 2 : shape == Shape::tetrahedron ? 3 : 0;
  std::vector<double> positions;
  for (const auto& p : lattice) {
    double sum = 1; // sum of the barycentric coordinates on a simplex
    if (simplex_dim > 0) {
      int last = degree;
      sum = 0;
      for (int d = 0; d < simplex_dim; ++d) {
        last -= p[static_cast<std::size_t>(d)];
        sum += nodes[static_cast<std::size_t>(p[static_cast<std::size_t>(d)])];
      }
      sum += nodes[static_cast<std::size_t>(last)];
    }
    for (int d = 0; d < dim; ++d)
      positions.push_back(
          2 * nodes[static_cast<std::size_t>(p[static_cast<std::size_t>(d)])] / (d < simplex_dim ? sum : 1) - 1);
  }
  return positions;
}

namespace {

/// Lattice points inside a shape, first axis fastest, which is the order of interior dofs.
std::vector<LatticePoint> interior_points(Shape shape, int degree) {
  const int dim = element::dimension(shape);
  const int simplex_dim = shape == Shape::triangle || shape == Shape::prism ? 2 : shape == Shape::tetrahedron ? 3 : 0;
  const auto is_inside = [&](const LatticePoint& p) {
    int sum = 0;
    for (int axis = 0; axis < simplex_dim; ++axis) sum += p[static_cast<std::size_t>(axis)];
    return sum < degree && (shape != Shape::pyramid || std::max(p[0], p[1]) + p[2] < degree);
  };
  const auto first = [dim](int axis) { return axis < dim ? 1 : 0; };
  const auto end = [dim, degree](int axis) { return axis < dim ? degree : 1; };
  std::vector<LatticePoint> result;
  for (int z = first(2); z < end(2); ++z)
    for (int y = first(1); y < end(1); ++y)
      for (int x = first(0); x < end(0); ++x)
        if (is_inside({x, y, z})) result.push_back({x, y, z});
  return result;
}

/// The lattice point of a cell that is the point `point` in the lattice of one of its entities.
LatticePoint in_cell(Shape shape, int degree, int dim, int entity, const LatticePoint& point) {
  if (dim == element::dimension(shape)) return point;
  const auto vertices = element::entity_vertices(shape, dim, entity);
  const auto origin = lattice_vertex(shape, degree, vertices[0]);
  LatticePoint result = origin;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const auto end = lattice_vertex(shape, degree, vertices[axis + 1]);
    for (std::size_t d = 0; d < 3; ++d) result[d] += point[axis] * (end[d] - origin[d]) / degree;
  }
  return result;
}

} // namespace

std::vector<std::size_t> matching_dofs(const element::Element& element, std::span<const LatticePoint> lattice) {
  const Shape shape = element.shape();
  const int degree = element.degree();
  const auto index = lattice_index(degree, lattice);
  std::vector<std::size_t> result(lattice.size());
  for (int dim = 0; dim <= element::dimension(shape); ++dim)
    for (int entity = 0; entity < element::num_entities(shape, dim); ++entity) {
      const auto points = interior_points(element::entity_shape(shape, dim, entity), degree);
      const auto dofs = element.entity_dofs(dim, entity);
      for (std::size_t k = 0; k < dofs.size(); ++k)
        result[static_cast<std::size_t>(index[lattice_key(degree, in_cell(shape, degree, dim, entity, points[k]))])] =
            static_cast<std::size_t>(dofs[k]);
    }
  return result;
}

} // namespace rafter::mesh
