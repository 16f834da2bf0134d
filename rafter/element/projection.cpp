// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/projection.hpp>

#include <rafter/element/basis.hpp>

namespace rafter::element {

std::vector<double> projection_matrix(Shape shape, int degree, const Quadrature& rule, std::span<const double> points) {
  const auto from = tabulate_orthonormal(shape, degree, rule.points);
  const auto to = tabulate_orthonormal(shape, degree, points);
  std::vector<double> matrix;
  for (int q = 0; q < from.num_points; ++q)
    for (int p = 0; p < to.num_points; ++p) {
      double sum = 0;
      for (int i = 0; i < from.num_dofs; ++i) sum += to(0, p, i) * from(0, q, i);
      matrix.push_back(sum * rule.weights[static_cast<std::size_t>(q)]);
    }
  return matrix;
}

} // namespace rafter::element
