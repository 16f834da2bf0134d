// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <tuple>
#include <vector>

#include <rafter/element/cell.hpp>

namespace rafter::element {

enum class QuadratureKind : std::uint8_t { gauss, gll };

/// A 1D rule, with ascending points.
struct Rule1D {
  std::vector<double> points, weights;
};
inline auto members(const Rule1D& value) {
  const auto& [points, weights] = value;
  return std::tie(points, weights);
}

/// A quadrature rule on a reference cell.
struct Quadrature {
  Shape shape = Shape::point;
  int degree = 0; ///< exact for polynomials of this total degree (on tensor shapes, of this degree per direction)
  std::vector<double> points;  ///< shape (point, dimension), row-major
  std::vector<double> weights; ///< shape (point); the sum is reference_volume(shape)
  /// On interval, quadrilateral and hexahedron the rules along each axis of which this one is the product, with the
  /// first coordinate fastest; empty on other shapes.
  std::vector<Rule1D> lines;
  int num_points() const { return static_cast<int>(weights.size()); }
};
inline auto members(const Quadrature& value) {
  const auto& [shape, degree, points, weights, lines] = value;
  return std::tie(shape, degree, points, weights, lines);
}

/// The smallest rule of the kind that is exact to `degree`. Gauss-Lobatto-Legendre rules (gll) exist on tensor shapes;
/// other shapes get Gauss rules. Throws InputError for degrees beyond max_quadrature_degree.
Quadrature make_quadrature(Shape shape, int degree, QuadratureKind kind = QuadratureKind::gauss);

/// The rule with `num_points` points per direction: tensor products of Gauss or GLL rules on tensor shapes, collapsed
/// Gauss-Jacobi rules elsewhere.
Quadrature make_quadrature_with_points(Shape shape, int num_points, QuadratureKind kind = QuadratureKind::gauss);

inline constexpr int max_quadrature_degree = 60;

/// The product of 1D rules, one along each axis of a tensor shape, which is exact to `degree`.
Quadrature product_quadrature(Shape shape, int degree, std::vector<Rule1D> lines);

// Rules on [-1, 1].
Rule1D gauss_jacobi(int num_points, double alpha); ///< rule for the weight (1-x)^alpha, alpha >= 0 (0: Gauss-Legendre)
Rule1D gauss_lobatto(int num_points);              ///< Gauss-Lobatto-Legendre rule, num_points >= 2

} // namespace rafter::element
