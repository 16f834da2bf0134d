// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/vtk_cells.hpp>

#include <map>
#include <numeric>

#include <rafter/base/error.hpp>

namespace rafter::io {
namespace {

using element::Shape;
using Lattice = std::vector<LatticePoint>;

/// Appends the points strictly between two corners.
void append_edge(const LatticePoint& from, const LatticePoint& to, int order, Lattice& points) {
  for (int s = 1; s < order; ++s) {
    LatticePoint point;
    for (std::size_t axis = 0; axis < 3; ++axis) point[axis] = from[axis] + (to[axis] - from[axis]) / order * s;
    points.push_back(point);
  }
}

/// Appends the points inside the parallelogram that two edges span; the first direction runs fastest.
void append_parallelogram(const LatticePoint& origin, const LatticePoint& first, const LatticePoint& second, int order,
                          Lattice& points) {
  for (int t = 1; t < order; ++t)
    for (int s = 1; s < order; ++s) {
      LatticePoint point;
      for (std::size_t axis = 0; axis < 3; ++axis)
        point[axis] =
            origin[axis] + (first[axis] - origin[axis]) / order * s + (second[axis] - origin[axis]) / order * t;
      points.push_back(point);
    }
}

Lattice quadrilateral(int p) {
  const Lattice v{{0, 0, 0}, {p, 0, 0}, {p, p, 0}, {0, p, 0}};
  Lattice points = v;
  append_edge(v[0], v[1], p, points);
  append_edge(v[1], v[2], p, points);
  append_edge(v[3], v[2], p, points);
  append_edge(v[0], v[3], p, points);
  append_parallelogram(v[0], v[1], v[3], p, points);
  return points;
}

Lattice hexahedron(int p) {
  const Lattice v{{0, 0, 0}, {p, 0, 0}, {p, p, 0}, {0, p, 0}, {0, 0, p}, {p, 0, p}, {p, p, p}, {0, p, p}};
  Lattice points = v;
  for (const std::size_t k : {0u, 4u}) {
    append_edge(v[k], v[k + 1], p, points);
    append_edge(v[k + 1], v[k + 2], p, points);
    append_edge(v[k + 3], v[k + 2], p, points);
    append_edge(v[k], v[k + 3], p, points);
  }
  for (std::size_t i = 0; i < 4; ++i) append_edge(v[i], v[i + 4], p, points);
  append_parallelogram(v[0], v[3], v[4], p, points);
  append_parallelogram(v[1], v[2], v[5], p, points);
  append_parallelogram(v[0], v[1], v[4], p, points);
  append_parallelogram(v[3], v[2], v[7], p, points);
  append_parallelogram(v[0], v[1], v[3], p, points);
  append_parallelogram(v[4], v[5], v[7], p, points);
  for (int k = 1; k < p; ++k) append_parallelogram({0, 0, k}, {p, 0, k}, {0, p, k}, p, points);
  return points;
}

Lattice shifted(Lattice points, const LatticePoint& shift) {
  for (auto& point : points)
    for (std::size_t axis = 0; axis < 3; ++axis) point[axis] += shift[axis];
  return points;
}

/// VTK orders the points of a triangle shell by shell; the interior is a triangle of order p - 3.
Lattice triangle(int p) {
  if (p < 0) return {};
  if (p == 0) return {{0, 0, 0}};
  const Lattice v{{0, 0, 0}, {p, 0, 0}, {0, p, 0}};
  Lattice points = v;
  for (std::size_t i = 0; i < 3; ++i) append_edge(v[i], v[(i + 1) % 3], p, points);
  const Lattice interior = shifted(triangle(p - 3), {1, 1, 0});
  points.insert(points.end(), interior.begin(), interior.end());
  return points;
}

/// VTK orders the points of a tetrahedron shell by shell; the interior is a tetrahedron of order p - 4.
Lattice tetrahedron(int p) {
  if (p < 0) return {};
  if (p == 0) return {{0, 0, 0}};
  const Lattice v{{0, 0, 0}, {p, 0, 0}, {0, p, 0}, {0, 0, p}};
  constexpr std::array<std::array<std::size_t, 2>, 6> edges{{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  constexpr std::array<std::array<std::size_t, 3>, 4> faces{{{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
  Lattice points = v;
  for (const auto& edge : edges) append_edge(v[edge[0]], v[edge[1]], p, points);
  for (const auto& face : faces)
    for (const auto& [a, b, unused] : triangle(p - 3)) {
      std::array<int, 4> weights{};
      weights[face[0]] = p - 2 - a - b;
      weights[face[1]] = a + 1;
      weights[face[2]] = b + 1;
      points.push_back({weights[1], weights[2], weights[3]});
    }
  const Lattice interior = shifted(tetrahedron(p - 4), {1, 1, 1});
  points.insert(points.end(), interior.begin(), interior.end());
  return points;
}

void append_triangle_rows(int p, int k, Lattice& points) {
  for (int j = 1; j < p; ++j)
    for (int i = 1; i + j < p; ++i) points.push_back({i, j, k});
}

Lattice wedge(int p) {
  const Lattice v{{0, 0, 0}, {p, 0, 0}, {0, p, 0}, {0, 0, p}, {p, 0, p}, {0, p, p}};
  Lattice points = v;
  for (const std::size_t k : {0u, 3u})
    for (std::size_t i = 0; i < 3; ++i) append_edge(v[k + i], v[k + (i + 1) % 3], p, points);
  for (std::size_t i = 0; i < 3; ++i) append_edge(v[i], v[i + 3], p, points);
  append_triangle_rows(p, 0, points);
  append_triangle_rows(p, p, points);
  for (std::size_t i = 0; i < 3; ++i) append_parallelogram(v[i], v[(i + 1) % 3], v[i + 3], p, points);
  for (int k = 1; k < p; ++k) append_triangle_rows(p, k, points);
  return points;
}

Lattice interval(int p) {
  const Lattice v{{0, 0, 0}, {p, 0, 0}};
  Lattice points = v;
  append_edge(v[0], v[1], p, points);
  return points;
}

enum VtkType : std::uint8_t { vtk_tetra = 10, vtk_pyramid = 14 };

std::uint8_t vtk_type(Shape shape, bool is_linear) {
  switch (shape) {
  case Shape::interval:
    return is_linear ? 3 : 68;
  case Shape::triangle:
    return is_linear ? 5 : 69;
  case Shape::quadrilateral:
    return is_linear ? 9 : 70;
  case Shape::tetrahedron:
    return is_linear ? vtk_tetra : 71;
  case Shape::hexahedron:
    return is_linear ? 12 : 72;
  case Shape::prism:
    return is_linear ? 13 : 73;
  case Shape::point:
  case Shape::pyramid:
    break;
  }
  throw base::InternalError("no VTK Lagrange cell for this shape");
}

/// A pyramid of order p is divided into layers of upright and inverted pyramids with tetrahedra between them.
class PyramidSplit {
public:
  explicit PyramidSplit(int p) {
    for (int k = 0; k <= p; ++k)
      for (int j = 0; j <= p - k; ++j)
        for (int i = 0; i <= p - k; ++i) {
          index_[{i, j, k}] = static_cast<int>(cells_.points.size());
          cells_.points.push_back({i, j, k});
        }
    for (int k = 0; k < p; ++k)
      for (int j = 0; j < p - k; ++j)
        for (int i = 0; i < p - k; ++i) append_around({i, j, k}, p - k);
  }
  VtkCells cells() { return std::move(cells_); }

private:
  /// Appends the cells that belong to the square at (i, j) of layer k, which has `width` squares per direction.
  void append_around(const LatticePoint& at, int width) {
    const auto [i, j, k] = at;
    append(vtk_pyramid, {{i, j, k}, {i + 1, j, k}, {i + 1, j + 1, k}, {i, j + 1, k}, {i, j, k + 1}});
    const bool has_right = i + 1 < width, has_back = j + 1 < width;
    if (has_right) append(vtk_tetra, {{i + 1, j, k}, {i + 1, j + 1, k}, {i, j, k + 1}, {i + 1, j, k + 1}});
    if (has_back) append(vtk_tetra, {{i + 1, j + 1, k}, {i, j + 1, k}, {i, j, k + 1}, {i, j + 1, k + 1}});
    if (has_right && has_back)
      append(vtk_pyramid,
             {{i, j, k + 1}, {i, j + 1, k + 1}, {i + 1, j + 1, k + 1}, {i + 1, j, k + 1}, {i + 1, j + 1, k}});
  }

  void append(VtkType type, const Lattice& points) {
    cells_.types.push_back(type);
    auto& indices = cells_.connectivity.emplace_back();
    for (const auto& point : points) indices.push_back(index_.at(point));
  }

  std::map<LatticePoint, int> index_;
  VtkCells cells_;
};

} // namespace

std::vector<LatticePoint> lagrange_lattice(Shape shape, int order) {
  if (order < 1 || order > max_vtk_order) throw base::InternalError("order of a VTK cell out of range");
  switch (shape) {
  case Shape::interval:
    return interval(order);
  case Shape::triangle:
    return triangle(order);
  case Shape::quadrilateral:
    return quadrilateral(order);
  case Shape::tetrahedron:
    return tetrahedron(order);
  case Shape::hexahedron:
    return hexahedron(order);
  case Shape::prism:
    return wedge(order);
  case Shape::point:
  case Shape::pyramid:
    break;
  }
  throw base::InternalError("no VTK Lagrange cell for this shape");
}

VtkCells make_vtk_cells(Shape shape, int order) {
  if (shape == Shape::pyramid) return PyramidSplit(order).cells();
  VtkCells result;
  result.points = lagrange_lattice(shape, order);
  result.types = {vtk_type(shape, order == 1)};
  result.connectivity.emplace_back(result.points.size());
  std::iota(result.connectivity[0].begin(), result.connectivity[0].end(), 0);
  // VTK orders the points of its linear wedge with the opposite handedness to those of its Lagrange wedge.
  if (shape == Shape::prism && order == 1) result.connectivity[0] = {0, 2, 1, 3, 5, 4};
  return result;
}

} // namespace rafter::io
