// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/orientation.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <rafter/base/error.hpp>

namespace rafter::element {
namespace {

/// Canonical position of each vertex of an interval or triangle, which is its rank among the global numbers.
std::vector<int> ranks(std::span<const std::int64_t> global) {
  std::vector<int> result;
  for (const std::int64_t g : global)
    result.push_back(static_cast<int>(std::ranges::count_if(global, [g](std::int64_t other) { return other < g; })));
  return result;
}

/// Canonical positions of a quadrilateral's vertices. Local vertex numbers are bit pairs (axis 1, axis 0), so the
/// neighbours of v are v^1 and v^2, and the opposite vertex is v^3. code = 2 * origin + (1 if the first canonical axis
/// points to origin^2).
std::vector<int> quadrilateral_permutation(int code) {
  const int origin = code / 2, first = code % 2 == 0 ? 1 : 2;
  std::vector<int> result(4);
  result[origin] = 0;
  result[origin ^ first] = 1;
  result[origin ^ first ^ 3] = 2;
  result[origin ^ 3] = 3;
  return result;
}

int quadrilateral_code(std::span<const std::int64_t> global) {
  const int origin = static_cast<int>(std::ranges::min_element(global) - global.begin());
  return 2 * origin + (global[origin ^ 1] < global[origin ^ 2] ? 0 : 1);
}

/// All vertex permutations of a simplex in lexicographic order, the identity first.
std::vector<std::vector<int>> simplex_permutations(std::vector<int> vertices) {
  std::vector<std::vector<int>> result;
  do result.push_back(vertices);
  while (std::ranges::next_permutation(vertices).found);
  return result;
}

const std::vector<std::vector<int>>& permutations(Shape entity) {
  static const std::vector<std::vector<int>> point{{0}};
  static const auto interval = simplex_permutations({0, 1});
  static const auto triangle = simplex_permutations({0, 1, 2});
  static const auto quadrilateral = [] {
    std::vector<std::vector<int>> result;
    for (int code = 0; code < 8; ++code) result.push_back(quadrilateral_permutation(code));
    return result;
  }();
  switch (entity) {
  case Shape::point:
    return point;
  case Shape::interval:
    return interval;
  case Shape::triangle:
    return triangle;
  case Shape::quadrilateral:
    return quadrilateral;
  default:
    break;
  }
  throw base::InternalError("element: a " + std::string(name(entity)) + " is never shared, it has no orientation");
}

} // namespace

int num_orientations(Shape entity) { return static_cast<int>(permutations(entity).size()); }

int orientation(Shape entity, std::span<const std::int64_t> global_vertices) {
  const auto& all = permutations(entity);
  if (global_vertices.size() != all[0].size())
    throw base::InternalError("element: orientation of a " + std::string(name(entity)) + " needs " +
                              std::to_string(all[0].size()) + " vertices, got " +
                              std::to_string(global_vertices.size()));
  if (entity == Shape::quadrilateral) return quadrilateral_code(global_vertices);
  const auto found = std::ranges::find(all, ranks(global_vertices));
  if (found == all.end())
    throw base::InternalError("element: two vertices of one " + std::string(name(entity)) + " share a global number");
  return static_cast<int>(found - all.begin());
}

std::span<const int> vertex_permutation(Shape entity, int code) {
  const auto& all = permutations(entity);
  if (code < 0 || code >= static_cast<int>(all.size()))
    throw base::InternalError("element: " + std::string(name(entity)) + " has no orientation code " +
                              std::to_string(code));
  return all[static_cast<std::size_t>(code)];
}

std::vector<double> canonical_points(Shape entity, int code, std::span<const double> points) {
  const auto permutation = vertex_permutation(entity, code);
  const auto dim = static_cast<std::size_t>(dimension(entity));
  const auto corners = reference_vertices(entity);
  // Symmetries of the reference entity are affine, and defined by the images of the origin and of one vertex per axis
  // (1 and 2).
  const auto image = [&](std::size_t vertex, std::size_t i) {
    return corners[static_cast<std::size_t>(permutation[vertex]) * dim + i];
  };
  std::vector<double> result(points.size());
  for (std::size_t row = 0; row < points.size(); row += dim)
    for (std::size_t i = 0; i < dim; ++i) {
      result[row + i] = image(0, i);
      for (std::size_t k = 0; k < dim; ++k)
        result[row + i] += 0.5 * (points[row + k] + 1) * (image(k + 1, i) - image(0, i));
    }
  return result;
}

} // namespace rafter::element
