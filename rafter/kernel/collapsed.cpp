// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/collapsed.hpp>

#include <fmt/format.h>
#include <rafter/element/basis.hpp>

namespace rafter::kernel {

namespace {

/// Values (0) or derivatives (1) of a table, with so many columns, of which those without a function are 0.
ReferenceMatrix padded_matrix(const element::Table& table, int derivative, int cols, std::string name) {
  ReferenceMatrix result{std::move(name), table.num_points, cols, {}, Symmetry::none, false};
  for (int q = 0; q < table.num_points; ++q)
    for (int n = 0; n < cols; ++n) result.values.push_back(n < table.num_dofs ? table(derivative, q, n) : 0.0);
  return result;
}

} // namespace

CollapsedTriangle collapsed_triangle(int degree, std::span<const double> eta_0, std::span<const double> eta_1) {
  CollapsedTriangle result{.degree = degree, .first = {}, .second = {}};
  for (const int derivative : {0, 1}) {
    const auto at = static_cast<std::size_t>(derivative);
    result.first[at] = padded_matrix(element::tabulate_jacobi(degree, 0, 0, eta_0), derivative, degree + 1, "A");
    for (int p = 0; p <= degree; ++p)
      result.second[at].push_back(padded_matrix(element::tabulate_jacobi(degree - p, 2 * p + 1, p, eta_1), derivative,
                                                degree + 1, fmt::format("B{}_", p)));
  }
  return result;
}

} // namespace rafter::kernel
