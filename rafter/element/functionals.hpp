// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace rafter::element {

/// Linear functionals of functions f on a reference cell, which see f at points: functional i is the sum over its terms
/// of weight * f_component(x_point). Moments against polynomials are such sums by a quadrature rule; the values of a
/// scalar function at nodes are sums of one term with weight 1.
struct Functionals {
  struct Term {
    std::int32_t point = 0, component = 0; ///< component of the value of f on the reference cell
    double weight = 1;
  };
  int dim = 0;                         ///< dimension of the reference cell
  std::vector<double> points;          ///< shape (point, dim)
  std::vector<Term> terms;             ///< terms of the functionals, one functional after the other
  std::vector<std::int32_t> begins{0}; ///< first term of each functional, shape (functional + 1)

  int count() const { return static_cast<int>(begins.size()) - 1; }
  int num_points() const { return dim == 0 ? 0 : static_cast<int>(points.size()) / dim; }
  /// Adds a functional.
  void add(std::span<const Term> of_functional);
  /// Says whether functional i is the value of a scalar function at point i.
  bool are_point_evaluations() const;
  /// Functionals of functions with these values at the points, shape (component, point, function); the result has shape
  /// (functional, function). Terms are summed in their order, so that results are the same on all machines.
  std::vector<double> applied(std::span<const double> values, int num_functions = 1) const;
};
inline auto members(const Functionals::Term& value) {
  const auto& [point, component, weight] = value;
  return std::tie(point, component, weight);
}
inline auto members(const Functionals& value) {
  const auto& [dim, points, terms, begins] = value;
  return std::tie(dim, points, terms, begins);
}

/// The values of a scalar function at each point, shape (point, dim).
Functionals point_evaluations(std::vector<double> points, int dim);

} // namespace rafter::element
