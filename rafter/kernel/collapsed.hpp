// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <span>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

/// The orthonormal basis of a triangle on collapsed coordinates: function (p, q), p + q <= degree, is A_p(eta_0)
/// B_pq(eta_1), where xi_0 = (1 + eta_0) (1 - eta_1) / 2 - 1 and xi_1 = eta_1 (Karniadakis and Sherwin, Spectral/hp
/// Element Methods, 2005, section 3.2). Members are for values [0] and derivatives along eta [1].
struct CollapsedTriangle {
  int degree = 0;
  std::array<ReferenceMatrix, 2> first; ///< A, shape (point along eta_0, p)
  /// B for each p, shape (point along eta_1, q); columns q > degree - p are 0.
  std::array<std::vector<ReferenceMatrix>, 2> second;
};
CollapsedTriangle collapsed_triangle(int degree, std::span<const double> eta_0, std::span<const double> eta_1);

/// Number of function (p, q) in the order of element::tabulate_orthonormal.
inline int collapsed_triangle_function(int p, int q) { return (p + q) * (p + q + 1) / 2 + q; }

} // namespace rafter::kernel
