// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <functional>
#include <vector>

#include <rafter/element/basis.hpp>
#include <rafter/element/element.hpp>
#include <rafter/element/orientation.hpp>
#include <rafter/element/quadrature.hpp>

/// Definitions of elements that the registry does not have.
namespace rafter::test {

/// Returns the coefficients of a polynomial of the degree in the orthonormal basis.
inline std::vector<double> orthonormal_coefficients(element::Shape shape, int degree,
                                                    const std::function<double(std::span<const double>)>& f) {
  const auto rule = element::make_quadrature(shape, 2 * degree);
  const auto table = element::tabulate_orthonormal(shape, degree, rule.points);
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  std::vector<double> result;
  for (int k = 0; k < table.num_dofs; ++k) {
    double sum = 0;
    for (int q = 0; q < table.num_points; ++q)
      sum += rule.weights[static_cast<std::size_t>(q)] * table(0, q, k) *
             f(std::span(rule.points).subspan(static_cast<std::size_t>(q) * dim, dim));
    result.push_back(sum);
  }
  return result;
}

/// Returns the vector that is normal to a facet of a triangle or tetrahedron, in the direction that the frame of the
/// facet defines, and as long as the ratio of its area to that of the reference facet.
inline std::array<double, 3> frame_normal(element::Shape shape, int facet) {
  const int dim = element::dimension(shape);
  const auto vertices = element::entity_vertices(shape, dim - 1, facet);
  const auto corners = element::reference_vertices(shape);
  std::array<std::array<double, 3>, 2> t{}; // tangents
  for (std::size_t k = 0; k + 1 < vertices.size(); ++k)
    for (int a = 0; a < dim; ++a)
      t[k][static_cast<std::size_t>(a)] = (corners[static_cast<std::size_t>(vertices[k + 1] * dim + a)] -
                                           corners[static_cast<std::size_t>(vertices[0] * dim + a)]) /
                                          2;
  if (dim == 2) return {t[0][1], -t[0][0], 0};
  return {t[0][1] * t[1][2] - t[0][2] * t[1][1], t[0][2] * t[1][0] - t[0][0] * t[1][2],
          t[0][0] * t[1][1] - t[0][1] * t[1][0]};
}

/// Returns the Raviart-Thomas element of lowest order on triangles or tetrahedra (Raviart and Thomas, 1977,
/// doi:10.1007/BFb0064470): constant vectors and x times a constant; the dofs are the fluxes through the facets.
inline element::ElementDefinition raviart_thomas(element::Shape shape) {
  const int dim = element::dimension(shape);
  const auto facet_shape = element::facet_shape(shape, 0);
  element::ElementDefinition result{.shape = shape,
                                    .degree = 1,
                                    .value_shape = {dim},
                                    .map = element::Map::contravariant_piola,
                                    .functionals = {.dim = dim}};
  for (int f = 0; f <= dim; ++f) // the last one is x, the others are constant
    for (int c = 0; c < dim; ++c) {
      const auto row = orthonormal_coefficients(shape, 1, [&](std::span<const double> x) {
        return f == dim ? x[static_cast<std::size_t>(c)] : static_cast<double>(f == c);
      });
      result.span.insert(result.span.end(), row.begin(), row.end());
    }
  const auto rule = element::make_quadrature(facet_shape, 1);
  for (int d = 0; d <= dim; ++d)
    result.entity_dofs.emplace_back(static_cast<std::size_t>(element::num_entities(shape, d)));
  for (int facet = 0; facet < element::num_facets(shape); ++facet) {
    const auto points = element::map_to_cell(shape, dim - 1, facet, rule.points);
    const auto normal = frame_normal(shape, facet);
    std::vector<element::Functionals::Term> flux;
    for (int q = 0; q < rule.num_points(); ++q)
      for (int c = 0; c < dim; ++c)
        flux.push_back({.point = result.functionals.num_points() + q,
                        .component = c,
                        .weight = rule.weights[static_cast<std::size_t>(q)] * normal[static_cast<std::size_t>(c)]});
    result.functionals.points.insert(result.functionals.points.end(), points.begin(), points.end());
    result.functionals.add(flux);
    result.entity_dofs[static_cast<std::size_t>(dim - 1)][static_cast<std::size_t>(facet)] = {facet};
  }
  // A flux turns where the order of the vertices is an odd permutation of the canonical one.
  for (int code = 0; code < element::num_orientations(facet_shape); ++code) {
    const auto order = element::vertex_permutation(facet_shape, code);
    int inversions = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) inversions += order[k] > order[i] ? 1 : 0;
    result.transforms[static_cast<std::size_t>(facet_shape)].push_back(
        element::EntityTransform::of_signed_permutation({0}, {inversions % 2 == 0 ? 1.0 : -1.0}));
  }
  return result;
}

/// Returns the mini element on triangles: linear functions and a bubble of degree 3, by their values at the vertices
/// and at the barycentre.
inline element::ElementDefinition mini() {
  using Point = std::span<const double>;
  const auto shape = element::Shape::triangle;
  element::ElementDefinition result{.shape = shape,
                                    .degree = 3,
                                    .functionals =
                                        element::point_evaluations({-1, -1, 1, -1, -1, 1, -1. / 3, -1. / 3}, 2),
                                    .entity_dofs = {{{0}, {1}, {2}}, {{}, {}, {}}, {{3}}}};
  result.transforms[0] = {element::EntityTransform::identity(1)};
  for (const auto& f : std::vector<std::function<double(Point)>>{
           [](Point) { return 1.0; }, [](Point x) { return x[0]; }, [](Point x) { return x[1]; },
           [](Point x) { return (1 + x[0]) * (1 + x[1]) * (x[0] + x[1]); }}) {
    const auto row = orthonormal_coefficients(shape, 3, f);
    result.span.insert(result.span.end(), row.begin(), row.end());
  }
  return result;
}

/// Returns the discontinuous element of all polynomials of a degree whose dofs are the moments against the orthonormal
/// ones.
inline element::ElementDefinition discontinuous(element::Shape shape, int degree) {
  const int dim = element::dimension(shape), count = element::num_basis_functions(shape, degree);
  const auto rule = element::make_quadrature(shape, 2 * degree);
  const auto table = element::tabulate_orthonormal(shape, degree, rule.points);
  element::ElementDefinition result{
      .shape = shape, .degree = degree, .functionals = {.dim = dim, .points = rule.points}};
  for (int d = 0; d <= dim; ++d)
    result.entity_dofs.emplace_back(static_cast<std::size_t>(element::num_entities(shape, d)));
  for (int i = 0; i < count; ++i) {
    std::vector<element::Functionals::Term> moment;
    for (int q = 0; q < rule.num_points(); ++q)
      moment.push_back({.point = q, .weight = rule.weights[static_cast<std::size_t>(q)] * table(0, q, i)});
    result.functionals.add(moment);
    result.entity_dofs.back().front().push_back(i);
  }
  return result;
}

/// Returns the definition that a Lagrange element has, without the factors of its functions.
inline element::ElementDefinition without_factors(const element::Element& lagrange) {
  const int dim = element::dimension(lagrange.shape());
  element::ElementDefinition result{
      .shape = lagrange.shape(), .degree = lagrange.degree(), .functionals = lagrange.functionals()};
  for (int d = 0; d <= dim; ++d) {
    auto& of_dimension = result.entity_dofs.emplace_back();
    for (int e = 0; e < element::num_entities(lagrange.shape(), d); ++e) {
      const auto dofs = lagrange.entity_dofs(d, e);
      of_dimension.emplace_back(dofs.begin(), dofs.end());
    }
  }
  for (const auto entity :
       {element::Shape::point, element::Shape::interval, element::Shape::triangle, element::Shape::quadrilateral})
    for (int code = 0; code < element::num_orientations(entity); ++code)
      result.transforms[static_cast<std::size_t>(entity)].push_back(lagrange.entity_transform(entity, code));
  return result;
}

} // namespace rafter::test
