// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/reflections.hpp>

#include <cmath>
#include <map>

#include <rafter/element/dense.hpp>

namespace rafter::element {

namespace {

/// The reflection that exchanges vertices 0 and 1 of a simplex: x_0 -> (1 - dim) - x_0 - x_1 - ... It follows from the
/// barycentric coordinates l_i = (1 + x_i) / 2 of vertex i + 1, with the rest for vertex 0.
Reflection exchange_first(int dim) {
  const auto n = static_cast<std::size_t>(dim);
  Reflection result{std::vector<double>(n * n, 0.0), std::vector<double>(n, 0.0)};
  for (std::size_t i = 0; i < n; ++i) {
    result.matrix[i] = -1;
    if (i > 0) result.matrix[i * n + i] = 1;
  }
  result.offset[0] = 1 - dim;
  return result;
}

/// The reflections of a shape, and directions that each of them keeps or reverses.
struct Symmetries {
  std::vector<Reflection> reflections;
  std::vector<double> frame;
};

/// The frames consist of edges between exchanged vertices, and of lines that join the midpoints of exchanged parts.
Symmetries symmetries(Shape shape) {
  switch (shape) {
  case Shape::triangle:
    return {{exchange_first(2)}, {1, 0, -0.5, 1}};
  case Shape::tetrahedron:
    return {{exchange_first(3), {{1, 0, 0, 0, 0, 1, 0, 1, 0}, {0, 0, 0}}}, {1, 0, 0, 0, 1, -1, -0.5, 0.5, 0.5}};
  case Shape::prism: // those of its triangle and its interval
    return {{{{-1, -1, 0, 0, 1, 0, 0, 0, 1}, {-1, 0, 0}}, {{1, 0, 0, 0, 1, 0, 0, 0, -1}, {0, 0, 0}}},
            {1, 0, 0, -0.5, 1, 0, 0, 0, 1}};
  case Shape::pyramid: // two of those of its base; the apex lies above vertex 0
    return {{{{-1, 0, -1, 0, 1, 0, 0, 0, 1}, {-1, 0, 0}}, {{1, 0, 0, 0, -1, -1, 0, 0, 1}, {0, -1, 0}}},
            {1, 0, 0, 0, 1, 0, -0.5, -0.5, 1}};
  default:
    return {{}, identity(dimension(shape))};
  }
}

const Symmetries& symmetries_of(Shape shape) {
  static const auto all = [] {
    std::map<Shape, Symmetries> result;
    for (const Shape each : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral, Shape::tetrahedron,
                             Shape::hexahedron, Shape::prism, Shape::pyramid})
      result.emplace(each, symmetries(each));
    return result;
  }();
  return all.at(shape);
}

} // namespace

const std::vector<Reflection>& reflections(Shape shape) { return symmetries_of(shape).reflections; }

std::vector<double> reflection_frame(Shape shape) { return symmetries_of(shape).frame; }

unsigned direction_parity(Shape shape, int direction) {
  const auto n = static_cast<std::size_t>(dimension(shape));
  const auto frame = reflection_frame(shape);
  const double* d = frame.data() + static_cast<std::size_t>(direction) * n;
  unsigned parity = 0;
  const auto& all = reflections(shape);
  for (std::size_t r = 0; r < all.size(); ++r) {
    double same = 0; // <d, A d>, positive when direction d is kept, negative when it is reversed
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) same += d[i] * all[r].matrix[i * n + j] * d[j];
    if (same < 0) parity |= 1U << r;
  }
  return parity;
}

std::vector<double> reflected(const Reflection& reflection, std::span<const double> points) {
  const std::size_t n = reflection.offset.size();
  std::vector<double> result(points.size());
  for (std::size_t p = 0; p < points.size(); p += n)
    for (std::size_t i = 0; i < n; ++i) {
      result[p + i] = reflection.offset[i];
      for (std::size_t j = 0; j < n; ++j) result[p + i] += reflection.matrix[i * n + j] * points[p + j];
    }
  return result;
}

std::optional<std::vector<int>> reflection_permutation(Shape shape, int r, std::span<const double> points) {
  const auto n = static_cast<std::size_t>(dimension(shape));
  const auto images = reflected(reflections(shape)[static_cast<std::size_t>(r)], points);
  constexpr double tolerance = 1e-10;
  // sorted by the first coordinate, so that each point has few candidates
  std::multimap<double, std::size_t> by_first;
  for (std::size_t p = 0; p < points.size(); p += n) by_first.emplace(points[p], p);
  std::vector<int> permutation;
  for (std::size_t p = 0; p < points.size(); p += n) {
    int found = -1;
    for (auto c = by_first.lower_bound(images[p] - tolerance);
         c != by_first.end() && c->first <= images[p] + tolerance && found < 0; ++c) {
      double distance = 0;
      for (std::size_t i = 0; i < n; ++i)
        distance = std::fmax(distance, std::fabs(points[c->second + i] - images[p + i]));
      if (distance <= tolerance) found = static_cast<int>(c->second / n);
    }
    if (found < 0) return std::nullopt;
    permutation.push_back(found);
  }
  return permutation;
}

} // namespace rafter::element
