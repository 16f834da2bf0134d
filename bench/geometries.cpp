// SPDX-License-Identifier: BSD-3-Clause
#include <bench/geometries.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/base/error.hpp>
#include <rafter/mesh/cube_split.hpp>

namespace rafter::bench {
namespace {

using element::Shape;

/// The waves have a height of a twentieth of the box along each axis and phases that depend on the other coordinates
/// alone, so that cells are bent but none is inverted.
void move_along_waves(double amplitude, std::span<double> x) {
  const std::vector<double> old(x.begin(), x.end());
  const std::size_t dim = x.size();
  for (std::size_t d = 0; d < dim; ++d)
    x[d] += 0.05 * amplitude * std::sin(3 * old[(d + 1) % dim] + (dim > 2 ? old[(d + 2) % dim] : 0));
}

void deform(Deformation deformation, double amplitude, std::span<double> x) {
  switch (deformation) {
  case Deformation::none:
    return;
  case Deformation::graded:
    for (double& coordinate : x) coordinate *= 1 + amplitude * (coordinate - 1) / 3;
    return;
  case Deformation::sheared:
    deform(Deformation::graded, amplitude, x);
    x[0] += amplitude * (0.3 * x[1] + 0.2 * x[2]);
    x[1] += amplitude * 0.25 * x[2];
    return;
  case Deformation::multilinear:
  case Deformation::isoparametric:
    move_along_waves(amplitude, x);
  }
}

} // namespace

int Geometry::cells_per_cube() const { return static_cast<int>(mesh::split_into(shape).cells.size()); }

const std::vector<Geometry>& geometries() {
  using enum Deformation;
  static const std::vector<Geometry> table{{"cartesian", Shape::hexahedron, none},
                                           {"graded", Shape::hexahedron, graded},
                                           {"sheared", Shape::hexahedron, sheared},
                                           {"deformed", Shape::hexahedron, multilinear},
                                           {"nearly-sheared", Shape::hexahedron, sheared, 1e-9},
                                           {"nearly-deformed", Shape::hexahedron, multilinear, 1e-8},
                                           {"hexahedra", Shape::hexahedron, none},
                                           {"tetrahedra", Shape::tetrahedron, none},
                                           {"prisms", Shape::prism, none},
                                           {"pyramids", Shape::pyramid, none},
                                           {"quadrilaterals", Shape::quadrilateral, none},
                                           {"triangles", Shape::triangle, none},
                                           {"curved-hexahedra", Shape::hexahedron, isoparametric},
                                           {"curved-tetrahedra", Shape::tetrahedron, isoparametric},
                                           {"curved-prisms", Shape::prism, isoparametric},
                                           {"curved-pyramids", Shape::pyramid, isoparametric},
                                           {"curved-quadrilaterals", Shape::quadrilateral, isoparametric},
                                           {"curved-triangles", Shape::triangle, isoparametric}};
  return table;
}

std::vector<std::string> geometry_names() {
  std::vector<std::string> names;
  for (const auto& geometry : geometries()) names.emplace_back(geometry.name);
  return names;
}

const Geometry& find_geometry(const std::string& name) {
  const auto found = std::ranges::find(geometries(), name, &Geometry::name);
  if (found == geometries().end()) throw base::InternalError("no geometry " + name);
  return *found;
}

std::vector<double> undeformed(const Geometry& geometry, std::span<const double> x) {
  std::vector<double> point(x.begin(), x.end());
  deform(geometry.deformation, geometry.amplitude, point);
  for (std::size_t d = 0; d < x.size(); ++d) point[d] = x[d] - (point[d] - x[d]);
  return point;
}

mesh::Mesh make_cube(int n, const Geometry& geometry, int degree) {
  const auto dim = static_cast<std::size_t>(geometry.dim());
  auto mesh = mesh::make_box({.cells = std::vector<int>(dim, n),
                              .size = std::vector<double>(dim, 1.0),
                              .shape = std::string(element::name(geometry.shape)),
                              .degree = geometry.deformation == Deformation::isoparametric ? degree : 1});
  for (std::size_t i = 0; i < mesh.points.size(); i += dim)
    deform(geometry.deformation, geometry.amplitude, {&mesh.points[i], dim});
  return mesh;
}

} // namespace rafter::bench
