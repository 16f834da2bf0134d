// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/element/quadrature.hpp>

namespace rafter::op {

/// Says which quadrature rule a form gets. By default the rule is exact for the estimated degree of the integrand on
/// affine cells.
struct QuadratureOptions {
  element::QuadratureKind kind = element::QuadratureKind::gauss;
  std::optional<int> points; ///< number of points per direction
  std::optional<int> degree; ///< degree that is integrated exactly
  int max_degree = -1;       ///< largest estimated degree that is taken; -1: form::default_degree_cap
  int least_degree = 0;      ///< least degree that is taken for cells instead of an estimated one
  /// The number of points per direction that intervals, quadrilaterals and hexahedra have instead of `points`, while
  /// the other shapes of a mesh keep their rules.
  std::optional<int> tensor_points = {};
  /// The degree that is integrated exactly on other cells than these instead of `degree`, where their maps are not
  /// affine.
  std::optional<int> curved_degree = {};
};

} // namespace rafter::op
