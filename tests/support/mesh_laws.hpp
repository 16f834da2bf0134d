// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <rafter/element/quadrature.hpp>
#include <rafter/mesh/mesh.hpp>

/// Tests of meshes check laws by integrals over meshes and boxes of every shape. The integrals are computed from the
/// geometry element alone.
namespace rafter::mesh_laws {

using Point = std::array<double, 3>;

struct BoxCase {
  int dim = 3;
  std::string shape;
};

/// Returns every shape in its dimension, and the mixed boxes.
inline std::vector<BoxCase> box_cases() {
  return {{1, "interval"},   {2, "triangle"}, {2, "quadrilateral"}, {2, "mixed"}, {3, "tetrahedron"},
          {3, "hexahedron"}, {3, "prism"},    {3, "pyramid"},       {3, "mixed"}};
}

/// Returns a box with unequal sides 2, 1.5, 0.5 and at least `n` cells along each, enough for mixed boxes.
inline mesh::Mesh make_case(const BoxCase& box, int n = 2, int degree = 1) {
  const std::array<int, 3> counts{box.shape == "mixed" ? n + 3 : n + 1, n, n};
  const std::array<double, 3> size{2, 1.5, 0.5};
  return mesh::make_box({.cells = {counts.begin(), counts.begin() + box.dim},
                         .size = {size.begin(), size.begin() + box.dim},
                         .shape = box.shape,
                         .degree = degree});
}

inline Point node(const mesh::Mesh& mesh, std::int32_t number) {
  Point x{};
  for (int d = 0; d < mesh.gdim; ++d) x[d] = mesh.points[static_cast<std::size_t>(number) * mesh.gdim + d];
  return x;
}

inline double determinant(const std::array<Point, 3>& j, int dim) {
  if (dim == 1) return j[0][0];
  if (dim == 2) return j[0][0] * j[1][1] - j[0][1] * j[1][0];
  return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
         j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
}

/// The point and the Jacobian (columns [axis]) of a cell's map come from a table of its geometry element.
struct Mapped {
  Point x{};
  std::array<Point, 3> columns{};
};
inline Mapped mapped(const mesh::Mesh& mesh, const mesh::CellGroup& group, std::int32_t cell,
                     const element::Table& table, int point) {
  Mapped m;
  for (int n = 0; n < table.num_dofs; ++n) {
    const Point x = node(mesh, group.nodes()[static_cast<std::size_t>(cell) * table.num_dofs + n]);
    for (int d = 0; d < 3; ++d) {
      m.x[d] += table(0, point, n) * x[d];
      for (int axis = 0; axis < table.dim; ++axis) m.columns[axis][d] += table(1 + axis, point, n) * x[d];
    }
  }
  return m;
}

/// Each cell of a group has a volume, shape (cell); the smallest det J is that at the quadrature points of all.
struct Volumes {
  std::vector<double> cells;
  double smallest_det_j = 1e300;
};
inline Volumes volumes(const mesh::Mesh& mesh, const mesh::CellGroup& group) {
  const auto rule = element::make_quadrature_with_points(group.shape, 2 * group.degree + 2);
  const auto table = mesh::geometry_element(group)->tabulate(rule.points);
  Volumes result;
  for (std::int32_t c = 0; c < group.num_cells(); ++c) {
    double sum = 0;
    for (int q = 0; q < rule.num_points(); ++q) {
      const double det = determinant(mapped(mesh, group, c, table, q).columns, mesh.tdim);
      sum += rule.weights[q] * det;
      result.smallest_det_j = std::min(result.smallest_det_j, det);
    }
    result.cells.push_back(sum);
  }
  return result;
}

/// The volume of a mesh, and the smallest det J at the quadrature points.
struct VolumeOfMesh {
  double volume = 0, smallest_det_j = 1e300;
};
inline VolumeOfMesh volume_of(const mesh::Mesh& mesh) {
  VolumeOfMesh result;
  for (const auto& group : mesh.groups) {
    const auto of_group = volumes(mesh, group);
    result.volume = std::accumulate(of_group.cells.begin(), of_group.cells.end(), result.volume);
    result.smallest_det_j = std::min(result.smallest_det_j, of_group.smallest_det_j);
  }
  return result;
}
inline double volume(const mesh::Mesh& mesh) { return volume_of(mesh).volume; }
inline double smallest_det_j(const mesh::Mesh& mesh) { return volume_of(mesh).smallest_det_j; }

/// Returns the area (length in 2D, 1 per point in 1D) of the exterior facets with a tag, by quadrature on the facets.
inline double tagged_area(const mesh::Mesh& mesh, std::int32_t tag) {
  if (mesh.tdim == 1) {
    const auto& tags = mesh.topology().exterior_tags;
    return static_cast<double>(std::count(tags.begin(), tags.end(), tag));
  }
  double sum = 0;
  const auto& topology = mesh.topology();
  for (std::size_t i = 0; i < topology.exterior_facets.size(); ++i) {
    if (topology.exterior_tags[i] != tag) continue;
    const auto& ref = topology.exterior_facets[i];
    const auto& group = mesh.groups[ref.group];
    const auto facet = element::facet_shape(group.shape, ref.facet);
    const auto rule = element::make_quadrature_with_points(facet, 2 * group.degree + 6);
    const auto points = element::map_to_cell(group.shape, mesh.tdim - 1, ref.facet, rule.points);
    const auto table = mesh::geometry_element(group)->tabulate(points);
    // The tangents of the facet in the reference cell are the images of the facet's axes.
    const auto vertices = element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet);
    const auto corners = element::reference_vertices(group.shape);
    for (int q = 0; q < rule.num_points(); ++q) {
      const auto m = mapped(mesh, group, ref.cell, table, q);
      std::array<Point, 2> tangents{};
      for (int axis = 0; axis < mesh.tdim - 1; ++axis)
        for (int d = 0; d < 3; ++d)
          for (int a = 0; a < mesh.tdim; ++a)
            tangents[axis][d] += m.columns[a][d] *
                                 (corners[vertices[axis + 1] * mesh.tdim + a] - corners[vertices[0] * mesh.tdim + a]) /
                                 2;
      if (mesh.tdim == 2) {
        sum += rule.weights[q] * std::hypot(tangents[0][0], tangents[0][1]);
      } else {
        const auto& [s, t] = tangents;
        sum += rule.weights[q] *
               std::hypot(s[1] * t[2] - s[2] * t[1], s[2] * t[0] - s[0] * t[2], s[0] * t[1] - s[1] * t[0]);
      }
    }
  }
  return sum;
}

/// Returns vertices - edges + faces - cells, which is 1 for a mesh of a ball.
inline std::int64_t euler_characteristic(const mesh::Mesh& mesh) {
  const auto& t = mesh.topology();
  const auto cells = mesh.num_cells();
  if (mesh.tdim == 1) return mesh.num_vertices - cells;
  if (mesh.tdim == 2) return std::int64_t{mesh.num_vertices} - t.num_edges + cells;
  return std::int64_t{mesh.num_vertices} - t.num_edges + t.num_faces - cells;
}

/// Moves every geometry node by a smooth map that keeps det J > 0.
inline void bend(mesh::Mesh& mesh) {
  for (std::size_t i = 0; i < mesh.points.size(); i += mesh.gdim) {
    const Point x = [&] {
      Point p{};
      for (int d = 0; d < mesh.gdim; ++d) p[d] = mesh.points[i + d];
      return p;
    }();
    mesh.points[i] += 0.07 * std::sin(2 * x[1] + 3 * x[2]) + 0.05 * std::sin(2 * x[0]);
    if (mesh.gdim > 1) mesh.points[i + 1] += 0.06 * std::cos(2 * x[0] - x[2]) + 0.03 * x[0] * x[1];
    if (mesh.gdim > 2) mesh.points[i + 2] += 0.04 * std::sin(3 * x[0] + x[1]);
  }
}

} // namespace rafter::mesh_laws
