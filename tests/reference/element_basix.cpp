// SPDX-License-Identifier: BSD-3-Clause
// Tables agree with Basix (https://github.com/FEniCS/basix), whose reference cells are those of Rafter scaled to
// [0,1]^d.
#include <random>

#include <basix/e-lagrange.h>
#include <basix/finite-element.h>
#include <basix/quadrature.h>
#include <gtest/gtest.h>

#include <rafter/element/element.hpp>
#include <rafter/element/lagrange.hpp>
#include <rafter/element/quadrature.hpp>

using namespace rafter::element;

namespace {

basix::cell::type basix_cell(Shape shape) {
  switch (shape) {
  case Shape::interval:
    return basix::cell::type::interval;
  case Shape::triangle:
    return basix::cell::type::triangle;
  case Shape::quadrilateral:
    return basix::cell::type::quadrilateral;
  case Shape::tetrahedron:
    return basix::cell::type::tetrahedron;
  case Shape::hexahedron:
    return basix::cell::type::hexahedron;
  case Shape::prism:
    return basix::cell::type::prism;
  default:
    return basix::cell::type::pyramid;
  }
}

std::vector<double> from_unit(std::span<const double> points) {
  std::vector<double> result;
  for (const double x : points) result.push_back(2 * x - 1);
  return result;
}

class BasixTest : public testing::TestWithParam<std::tuple<Shape, int>> {};

std::string test_name(const testing::TestParamInfo<std::tuple<Shape, int>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + std::to_string(std::get<1>(info.param));
}

} // namespace

TEST(BasixTopology, SubEntitiesAreNumberedAlike) {
  for (const Shape shape : all_cell_shapes) {
    const auto topology = basix::cell::topology(basix_cell(shape));
    for (int dim = 0; dim <= dimension(shape); ++dim) {
      ASSERT_EQ(topology[dim].size(), static_cast<std::size_t>(num_entities(shape, dim)));
      for (int e = 0; e < num_entities(shape, dim); ++e) {
        const auto ours = entity_vertices(shape, dim, e);
        EXPECT_EQ(topology[dim][e], std::vector<int>(ours.begin(), ours.end()));
      }
    }
    const auto vertices = from_unit(basix::cell::geometry(basix_cell(shape)).first);
    EXPECT_EQ(vertices, std::vector(reference_vertices(shape).begin(), reference_vertices(shape).end()));
  }
}

TEST(BasixQuadrature, GaussAndLobattoRulesAgree) {
  for (int n = 2; n <= 20; ++n) {
    const auto [points, weights] = basix::quadrature::make_quadrature(basix::quadrature::type::gauss_jacobi,
                                                                      basix::cell::type::interval, 2 * n - 1);
    const auto ours = gauss_jacobi(n, 0);
    ASSERT_EQ(weights.size(), ours.weights.size());
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(2 * points[i] - 1, ours.points[i], 2e-15);
      EXPECT_NEAR(2 * weights[i], ours.weights[i], 1e-14 * ours.weights[i]);
    }
  }
}

TEST_P(BasixTest, LagrangeFunctionsAgree) {
  // Basix's family of recursive nodes ("isaac") has the same nodes; dofs are matched by their position.
  const auto [shape, degree] = GetParam();
  const int dim = dimension(shape);
  const auto theirs =
      basix::element::create_lagrange(basix_cell(shape), degree, basix::element::lagrange_variant::gll_isaac, false);
  const auto ours = make_element(Family::lagrange, shape, degree);
  ASSERT_EQ(theirs.dim(), ours->num_dofs());
  const auto position = matching_rows(from_unit(theirs.points().first), ours->nodes(), dim);
  const auto points = make_quadrature_with_points(shape, 3).points;
  std::vector<double> unit;
  for (const double x : points) unit.push_back(0.5 * (x + 1));
  const auto num_points = unit.size() / static_cast<std::size_t>(dim);
  const auto values = theirs.tabulate(1, unit, {num_points, static_cast<std::size_t>(dim)}).first;
  const auto table = ours->tabulate(points);
  for (int d = 0; d <= dim; ++d)
    for (std::size_t q = 0; q < num_points; ++q)
      for (int dof = 0; dof < theirs.dim(); ++dof) {
        const double expected = values[(d * num_points + q) * theirs.dim() + dof] * (d == 0 ? 1 : 0.5);
        EXPECT_NEAR(table(d, static_cast<int>(q), position[dof]), expected, 1e-11);
      }
}

INSTANTIATE_TEST_SUITE_P(All, BasixTest,
                         testing::Combine(testing::Values(Shape::interval, Shape::triangle, Shape::quadrilateral,
                                                          Shape::tetrahedron, Shape::hexahedron, Shape::prism),
                                          testing::Range(1, 7)),
                         test_name);
