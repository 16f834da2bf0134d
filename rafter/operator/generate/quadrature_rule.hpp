// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/qfunction.hpp>
#include <rafter/operator/generate/quadrature_options.hpp>

/// Chooses the quadrature rules of kernels.
namespace rafter::op {

/// A quadrature rule, with a line that says why it was chosen.
struct RuleChoice {
  element::Quadrature rule;
  std::string explanation;
};
/// Chooses the rule for integrals on cells of a shape, or on facets of that shape. `geometry_degree` is the degree of
/// the cells' geometry.
RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options);

} // namespace rafter::op
