// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/locate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rafter::mesh {
namespace {

constexpr double reference_tolerance = 1e-9; // reference cells have edges of length 2

/// The map of one cell: coordinates of its geometry nodes, shape (node, axis).
struct CellMap {
  const element::Element& geometry;
  std::vector<double> nodes;
  std::size_t dim;

  double size() const {
    double result = 0;
    for (std::size_t i = dim; i < nodes.size(); ++i) result = std::max(result, std::abs(nodes[i] - nodes[i % dim]));
    return result;
  }

  /// False only for points that are far from the cell. Curved cells leave the box of their nodes by a part of its size.
  bool may_hold(std::span<const double> x) const {
    const double margin = (geometry.degree() > 1 ? 0.5 : reference_tolerance) * size();
    for (std::size_t a = 0; a < dim; ++a) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t i = a; i < nodes.size(); i += dim) {
        low = std::min(low, nodes[i]);
        high = std::max(high, nodes[i]);
      }
      if (x[a] < low - margin || x[a] > high + margin) return false;
    }
    return true;
  }

  /// x - F(X), shape (axis), and J, shape (axis, reference axis).
  void evaluate(std::span<const double> x, std::span<const double> X, std::vector<double>& residual,
                std::vector<double>& jacobian) const {
    const auto table = geometry.tabulate(X);
    residual.assign(x.begin(), x.end());
    jacobian.assign(dim * dim, 0.0);
    for (int i = 0; i < table.num_dofs; ++i)
      for (std::size_t a = 0; a < dim; ++a) {
        const double coordinate = nodes[static_cast<std::size_t>(i) * dim + a];
        residual[a] -= table(0, 0, i) * coordinate;
        for (std::size_t b = 0; b < dim; ++b)
          jacobian[a * dim + b] += table(1 + static_cast<int>(b), 0, i) * coordinate;
      }
  }
};

std::vector<double> centre(element::Shape shape) {
  const auto vertices = element::reference_vertices(shape);
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  std::vector<double> result(dim, 0.0);
  for (std::size_t i = 0; i < vertices.size(); ++i)
    result[i % dim] += vertices[i] / static_cast<double>(element::num_vertices(shape));
  return result;
}

/// Reference cells are convex: inside is behind all facets.
bool is_inside(element::Shape shape, std::span<const double> X) {
  const auto vertices = element::reference_vertices(shape);
  const auto dim = X.size();
  for (int f = 0; f < element::num_facets(shape); ++f) {
    const auto normal = element::reference_normal(shape, f);
    const auto corner = static_cast<std::size_t>(element::entity_vertices(shape, static_cast<int>(dim) - 1, f)[0]);
    double distance = 0;
    for (std::size_t a = 0; a < dim; ++a) distance += (X[a] - vertices[corner * dim + a]) * normal[a];
    if (!(distance <= reference_tolerance)) return false;
  }
  return true;
}

/// J^-1 residual by Cramer's rule; not finite for a singular J.
std::array<double, 3> newton_step(std::span<const double> jacobian, std::span<const double> residual) {
  const std::size_t dim = residual.size();
  using Column = std::array<double, 3>;
  std::array<Column, 3> columns{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Column right{};
  for (std::size_t a = 0; a < dim; ++a) {
    right[a] = residual[a];
    for (std::size_t b = 0; b < dim; ++b) columns[b][a] = jacobian[a * dim + b];
  }
  const auto det = [](const Column& u, const Column& v, const Column& w) {
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
  };
  const auto& [u, v, w] = columns;
  const double all = det(u, v, w);
  return {det(right, v, w) / all, det(u, right, w) / all, det(u, v, right) / all};
}

/// Reference coordinates of x; nothing where Newton's method does not find any.
std::optional<std::vector<double>> inverse_map(const CellMap& map, element::Shape shape, std::span<const double> x) {
  auto X = centre(shape);
  const double rounding =
      64 * std::numeric_limits<double>::epsilon() *
      (map.size() + std::abs(*std::ranges::max_element(x, {}, [](double c) { return std::abs(c); })));
  std::vector<double> residual, jacobian;
  for (int iteration = 0; iteration < 30; ++iteration) {
    map.evaluate(x, X, residual, jacobian);
    const double error = std::abs(*std::ranges::max_element(residual, {}, [](double c) { return std::abs(c); }));
    if (error <= rounding) return X;
    if (!std::isfinite(error)) return std::nullopt;
    const auto step = newton_step(jacobian, residual);
    for (std::size_t a = 0; a < map.dim; ++a) X[a] = std::clamp(X[a] + step[a], -4.0, 4.0); // stays near the cell
  }
  return std::nullopt;
}

CellMap map_of(const Mesh& mesh, const CellGroup& group, const element::Element& geometry, std::int32_t cell) {
  const auto dim = static_cast<std::size_t>(mesh.gdim), count = static_cast<std::size_t>(geometry.num_dofs());
  CellMap result{geometry, {}, dim};
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = static_cast<std::size_t>(group.nodes[static_cast<std::size_t>(cell) * count + i]);
    for (std::size_t a = 0; a < dim; ++a) result.nodes.push_back(mesh.points[node * dim + a]);
  }
  return result;
}

} // namespace

std::optional<CellPoint> locate(const Mesh& mesh, std::span<const double> x) {
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto geometry = geometry_element(group);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto map = map_of(mesh, group, *geometry, cell);
      if (!map.may_hold(x)) continue;
      auto X = inverse_map(map, group.shape, x);
      if (X && is_inside(group.shape, *X)) return CellPoint{static_cast<std::int32_t>(g), cell, std::move(*X)};
    }
  }
  return std::nullopt;
}

} // namespace rafter::mesh
