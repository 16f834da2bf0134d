// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/quadrature_rule.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/form/degree.hpp>
#include <rafter/form/lowered.hpp>

namespace rafter::op {
namespace {

/// Number of points per direction that integrate a degree exactly.
int points_for(int degree, element::QuadratureKind kind) {
  return kind == element::QuadratureKind::gauss ? degree / 2 + 1 : std::max(2, (degree + 4) / 2);
}

element::Quadrature rule_with_points(element::Shape shape, int points, element::QuadratureKind kind) {
  if (element::is_tensor(shape)) return element::make_quadrature_with_points(shape, points, kind);
  // Simplices and other shapes get the smallest rule that is as exact as `points` points per direction are on an
  // interval.
  return element::make_quadrature(shape, kind == element::QuadratureKind::gauss ? 2 * points - 1 : 2 * points - 3);
}

/// Degree that the map of the cells adds to that of an integrand. Linear forms and functionals add the degree of det J
/// (per direction on tensor cells), so that polynomial loads on straight cells are integrated exactly. Bilinear forms
/// add only what curved edges bring: the degrees that p + 1 points integrate beyond those of the form serve multilinear
/// cells, as is usual.
int map_degree(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
               int geometry_degree) {
  if (mesh::is_constant(map)) return 0;
  if (parts.front().integral->rank == 2) return 2 * (geometry_degree - 1);
  const int dim = element::dimension(shape);
  return element::is_simplex(shape) ? dim * (geometry_degree - 1) : dim * geometry_degree - 1;
}

/// Least degree of an integral over facets. The size of curved ones is the root of a polynomial of degree 2 (g - 1) per
/// direction, g being the geometry degree, so that it is no polynomial even where the integrand is a constant: with
/// points for this degree lengths and areas converge as fast as the curved cells approximate their surface.
int least_facet_degree(std::span<const kernel::IntegralPart> parts, mesh::MapKind map, int geometry_degree) {
  if (mesh::is_constant(map) || parts.front().integral->measure.kind == form::MeasureKind::cell) return 0;
  return 2 * (geometry_degree - 1);
}

} // namespace

RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options) {
  const bool is_gauss = options.kind == element::QuadratureKind::gauss || !element::is_tensor(shape);
  const auto kind = is_gauss ? element::QuadratureKind::gauss : options.kind;
  const char* kind_name = is_gauss ? "Gauss" : "Gauss-Lobatto";
  if (shape == element::Shape::point) return {element::make_quadrature(shape, 0), "the point"};
  const bool is_tensor = element::is_tensor(shape);
  if (const auto points = is_tensor && options.tensor_points ? options.tensor_points : options.points)
    return {rule_with_points(shape, *points, kind),
            fmt::format("{} with {} points per direction, as asked", kind_name, *points)};
  const bool is_curved = !is_tensor && !mesh::is_constant(map);
  const auto asked = is_curved && options.curved_degree ? options.curved_degree : options.degree;
  int degree = asked.value_or(0);
  std::string why = "as asked";
  if (!asked) {
    const int of_map = map_degree(shape, parts, map, geometry_degree);
    for (const auto& part : parts) {
      auto choice = form::choose_quadrature_degree(*part.integral, options.max_degree);
      // A degree that the author of the form gives is taken as it is.
      const auto& measure = part.integral->measure;
      const int extra = measure.degree >= 0 ? 0 : of_map;
      if (measure.degree < 0 && measure.kind == form::MeasureKind::cell && choice.degree < options.least_degree) {
        choice.explanation += fmt::format("; {} of the finest level", options.least_degree);
        choice.degree = options.least_degree;
      }
      if (choice.degree + extra < degree) continue;
      degree = choice.degree + extra;
      why = choice.explanation;
      if (extra > 0) why += fmt::format("; + {} for {} cells", extra, mesh::name(map));
    }
    const auto is_chosen = [](const auto& part) { return part.integral->measure.degree < 0; };
    const int least = least_facet_degree(parts, map, geometry_degree);
    if (degree < least && std::ranges::any_of(parts, is_chosen)) {
      degree = least;
      why += fmt::format("; at least {} for the size of curved facets", least);
    }
    degree = std::min(degree, element::max_quadrature_degree);
  }
  const auto rule = element::is_tensor(shape)
                        ? element::make_quadrature_with_points(shape, points_for(degree, kind), kind)
                        : element::make_quadrature(shape, degree, kind);
  return {rule, fmt::format("{}, {} points, degree {}: {}", kind_name, rule.num_points(), degree, why)};
}

} // namespace rafter::op
