// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/lagrange.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/orientation.hpp>
#include <rafter/element/quadrature.hpp>

namespace rafter::element {
namespace {

/// Gauss-Lobatto points in [0,1]; lines[degree] holds those of one degree.
using Lines = std::vector<std::vector<double>>;

Lines lobatto_lines(int degree) {
  Lines result(1);
  for (int p = 1; p <= degree; ++p) {
    auto& line = result.emplace_back(gauss_lobatto(p + 1).points);
    for (double& x : line) x = 0.5 * (1 + x);
  }
  return result;
}

/// Barycentric coordinates of the recursive node with this multi-index: the mean of the nodes that result from leaving
/// out one index at a time, weighted by the Gauss-Lobatto point in [0,1] at the sum of the remaining indices.
std::vector<double> recursive_node(const std::vector<int>& index, const Lines& lines) {
  if (index.size() == 1) return {1};
  const int degree = std::accumulate(index.begin(), index.end(), 0);
  std::vector<double> result(index.size(), 0.);
  double total = 0;
  for (std::size_t skipped = 0; skipped < index.size(); ++skipped) {
    if (degree == index[skipped]) continue; // no index remains, and the weight is 0
    const double weight = lines[degree][degree - index[skipped]];
    std::vector<int> rest = index;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(skipped));
    const auto node = recursive_node(rest, lines);
    for (std::size_t k = 0; k < node.size(); ++k) result[k < skipped ? k : k + 1] += weight * node[k];
    total += weight;
  }
  for (double& coordinate : result) coordinate /= total;
  return result;
}

std::vector<double> triangle_interior(int degree) {
  const Lines lines = lobatto_lines(degree);
  std::vector<double> result;
  for (int j = 1; j < degree; ++j)
    for (int i = 1; i < degree - j; ++i) {
      const auto b = recursive_node({degree - i - j, i, j}, lines);
      result.insert(result.end(), {2 * b[1] - 1, 2 * b[2] - 1});
    }
  return result;
}

std::vector<double> tetrahedron_interior(int degree) {
  const Lines lines = lobatto_lines(degree);
  std::vector<double> result;
  for (int k = 1; k < degree; ++k)
    for (int j = 1; j < degree - k; ++j)
      for (int i = 1; i < degree - j - k; ++i) {
        const auto b = recursive_node({degree - i - j - k, i, j, k}, lines);
        result.insert(result.end(), {2 * b[1] - 1, 2 * b[2] - 1, 2 * b[3] - 1});
      }
  return result;
}

/// Interior nodes of a pyramid in layers; layer k holds (degree-k-1)^2 nodes. Node (i,j) takes its first collapsed
/// coordinate from node (i,k) of the triangular faces along x, its second from node (j,k) of those along y, and its
/// height from both.
std::vector<double> pyramid_interior(int degree) {
  const Lines lines = lobatto_lines(degree);
  std::vector<double> result;
  for (int k = 1; k < degree; ++k) {
    const auto on_face = [degree, k, &lines](int i) { return recursive_node({degree - k - i, i, k}, lines); };
    for (int j = 1; j < degree - k; ++j)
      for (int i = 1; i < degree - k; ++i) {
        const auto bx = on_face(i), by = on_face(j);
        const double height = 0.5 * (bx[2] + by[2]);
        const double x = (1 - height) * bx[1] / (1 - bx[2]), y = (1 - height) * by[1] / (1 - by[2]);
        result.insert(result.end(), {2 * x - 1, 2 * y - 1, 2 * height - 1});
      }
  }
  return result;
}

std::vector<double> factor_interior(Shape shape, int degree) {
  if (shape == Shape::triangle) return triangle_interior(degree);
  if (shape == Shape::tetrahedron) return tetrahedron_interior(degree);
  if (shape == Shape::pyramid) return pyramid_interior(degree);
  const auto line = gauss_lobatto(degree + 1).points;
  return {line.begin() + 1, line.end() - 1};
}

/// All nodes of an element, ordered by vertices, edges, faces and interior.
LagrangeNodes nodes_by_entity(Shape shape, int degree) {
  LagrangeNodes result;
  int next = 0;
  for (int dim = 0; dim <= dimension(shape); ++dim) {
    auto& dofs = result.entity_dofs.emplace_back(num_entities(shape, dim));
    for (int e = 0; e < num_entities(shape, dim); ++e) {
      const auto interior = interior_nodes(entity_shape(shape, dim, e), degree);
      if (dim > 0 && interior.empty()) continue;
      const auto mapped = map_to_cell(shape, dim, e, interior);
      result.points.insert(result.points.end(), mapped.begin(), mapped.end());
      dofs[e].resize(mapped.size() / dimension(shape));
      std::iota(dofs[e].begin(), dofs[e].end(), next);
      next += static_cast<int>(dofs[e].size());
    }
  }
  return result;
}

/// Gauss-Lobatto points along all axes, first axis fastest.
std::vector<double> tensor_nodes(int dim, int degree) {
  const auto line = gauss_lobatto(degree + 1).points;
  std::vector<double> result = line;
  for (int d = 1; d < dim; ++d) result = product_nodes(result, d, line, 1);
  return result;
}

} // namespace

std::vector<double> product_nodes(std::span<const double> first, int first_dim, std::span<const double> second,
                                  int second_dim) {
  std::vector<double> result;
  for (std::size_t j = 0; j < second.size(); j += second_dim)
    for (std::size_t i = 0; i < first.size(); i += first_dim) {
      result.insert(result.end(), first.begin() + i, first.begin() + i + first_dim);
      result.insert(result.end(), second.begin() + j, second.begin() + j + second_dim);
    }
  return result;
}

std::vector<int> find_rows(std::span<const double> points, std::span<const double> among, int dim) {
  constexpr double tolerance = 1e-10; // nodes of the highest degree are 1e-2 apart
  std::vector<int> result;
  for (std::size_t p = 0; p < points.size(); p += dim) {
    std::size_t row = 0;
    const auto differs = [&](std::size_t candidate) {
      for (int i = 0; i < dim; ++i)
        if (std::abs(points[p + i] - among[candidate + i]) > tolerance) return true;
      return false;
    };
    while (row < among.size() && differs(row)) row += dim;
    result.push_back(row < among.size() ? static_cast<int>(row / dim) : -1);
  }
  return result;
}

std::vector<int> matching_rows(std::span<const double> points, std::span<const double> among, int dim) {
  auto result = find_rows(points, among, dim);
  if (std::ranges::find(result, -1) != result.end())
    throw base::InternalError("element: the node set lacks a symmetry of its shape");
  return result;
}

std::vector<double> interior_nodes(Shape shape, int degree) {
  if (shape == Shape::point) return {};
  std::vector<double> result;
  int axis = 0;
  for (const Shape factor : factors(shape)) {
    const auto nodes = factor_interior(factor, degree);
    result = axis == 0 ? nodes : product_nodes(result, axis, nodes, dimension(factor));
    axis += dimension(factor);
  }
  return result;
}

double num_lagrange_nodes(Shape shape, int degree) {
  const double n = degree + 1;
  switch (shape) {
  case Shape::point:
    return 1;
  case Shape::interval:
    return n;
  case Shape::triangle:
    return n * (n + 1) / 2;
  case Shape::quadrilateral:
    return n * n;
  case Shape::tetrahedron:
    return n * (n + 1) * (n + 2) / 6;
  case Shape::hexahedron:
    return n * n * n;
  case Shape::prism:
    return n * n * (n + 1) / 2;
  case Shape::pyramid:
    return n * (n + 1) * (2 * n + 1) / 6;
  }
  return 0;
}

std::vector<int> node_permutation(Shape entity, int degree, int orientation_code) {
  if (entity == Shape::point) return {0};
  const auto nodes = interior_nodes(entity, degree);
  return matching_rows(canonical_points(entity, orientation_code, nodes), nodes, dimension(entity));
}

LagrangeNodes lagrange_nodes(Shape shape, int degree) {
  LagrangeNodes result = nodes_by_entity(shape, degree);
  if (!is_tensor(shape)) return result;
  const auto lexicographic = tensor_nodes(dimension(shape), degree);
  const auto position = matching_rows(result.points, lexicographic, dimension(shape));
  for (auto& of_dimension : result.entity_dofs)
    for (auto& dofs : of_dimension)
      for (int& dof : dofs) dof = position[dof];
  result.points = lexicographic;
  return result;
}

} // namespace rafter::element
