// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/lattice_cells.hpp>

#include <array>
#include <utility>

#include <rafter/base/error.hpp>

namespace rafter::mesh {
namespace {

LatticePoint sum(const LatticePoint& a, const LatticePoint& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// A kind of cell that occurs at the lattice points x with x + y + z <= degree - levels.
struct SimplexKind {
  int levels = 1;
  std::vector<LatticePoint> vertices;
};

const std::vector<SimplexKind>& kinds_of(element::Shape shape) {
  static const std::vector<SimplexKind> triangles{{1, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                                                  {2, {{1, 1, 0}, {0, 1, 0}, {1, 0, 0}}}};
  static const std::vector<SimplexKind> tetrahedra{
      {1, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {2, {{1, 0, 0}, {0, 1, 1}, {0, 1, 0}, {0, 0, 1}}},
      {2, {{1, 0, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 1}}}, {2, {{1, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
      {2, {{1, 0, 0}, {0, 1, 1}, {1, 1, 0}, {0, 1, 0}}}, {3, {{1, 1, 1}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}}}};
  return shape == element::Shape::tetrahedron ? tetrahedra : triangles;
}

std::vector<LatticePoint> simplices(element::Shape shape, int degree) {
  const int last_z = shape == element::Shape::tetrahedron ? degree - 1 : 0;
  std::vector<LatticePoint> result;
  for (const auto& kind : kinds_of(shape))
    for (int z = 0; z <= last_z; ++z)
      for (int y = 0; y < degree; ++y)
        for (int x = 0; x + y + z <= degree - kind.levels; ++x)
          for (const auto& vertex : kind.vertices) result.push_back(sum({x, y, z}, vertex));
  return result;
}

/// Cells of a product with an interval along an axis: each cell of the base between neighbouring points of the axis.
std::vector<LatticePoint> extruded(const std::vector<LatticePoint>& base, std::size_t num_vertices, int degree,
                                   std::size_t axis) {
  std::vector<LatticePoint> result;
  for (int layer = 0; layer < degree; ++layer)
    for (std::size_t cell = 0; cell < base.size(); cell += num_vertices)
      for (const int end : {layer, layer + 1})
        for (std::size_t v = 0; v < num_vertices; ++v) {
          result.push_back(base[cell + v]);
          result.back()[axis] = end;
        }
  return result;
}

} // namespace

std::vector<LatticePoint> lattice_cells(element::Shape shape, int degree) {
  using enum element::Shape;
  const auto product = [&](element::Shape base, std::size_t axis) {
    return extruded(lattice_cells(base, degree), static_cast<std::size_t>(element::num_vertices(base)), degree, axis);
  };
  switch (shape) {
  case point:
    return {{0, 0, 0}};
  case interval:
    return product(point, 0);
  case quadrilateral:
    return product(interval, 1);
  case hexahedron:
    return product(quadrilateral, 2);
  case prism:
    return product(triangle, 2);
  case triangle:
  case tetrahedron:
    return simplices(shape, degree);
  case pyramid:
    break;
  }
  throw base::InputError("pyramids are not divided into pyramids alone");
}

} // namespace rafter::mesh
