// SPDX-License-Identifier: BSD-3-Clause
// Errors of manufactured solutions fall as h^(p+1) in L2 and h^p in the H1 seminorm on every shape with straight edges.
#include <random>

#include "../support/orders.hpp"

namespace {

using namespace rafter;
using test::OrderCase;

class PoissonOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(PoissonOrder, is_optimal_on_boxes_moved_by_a_smooth_map) {
  test::expect_orders(test::orders_on_moved_boxes(test::poisson, GetParam()), GetParam().degree);
}

INSTANTIATE_TEST_SUITE_P(shapes, PoissonOrder, ::testing::ValuesIn(test::order_cases(1, 4)), test::name_of);

class ElasticityOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(ElasticityOrder, is_optimal_on_boxes_moved_by_a_smooth_map) {
  test::expect_orders(test::orders_on_moved_boxes(test::elasticity, GetParam()), GetParam().degree);
}

INSTANTIATE_TEST_SUITE_P(shapes, ElasticityOrder, ::testing::ValuesIn(test::order_cases(1, 2)), test::name_of);

/// Returns a box whose inner vertices are moved at random, so that its cells do not become parallelepipeds as they
/// become small.
mesh::Mesh jittered_box(const std::string& shape, int n) {
  const int dim = test::box_dimension(shape);
  auto mesh = mesh::make_box({.cells = std::vector<int>(static_cast<std::size_t>(dim), n), .shape = shape});
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-0.1 / n, 0.1 / n);
  for (double& x : mesh.points)
    if (x > 1e-9 && x < 1 - 1e-9) x += uniform(random);
  return mesh;
}

class JitteredOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(JitteredOrder, is_optimal_on_cells_that_stay_distorted) {
  const auto& [shape, degree, geometry_degree] = GetParam();
  const int dim = test::box_dimension(shape), n = test::coarse_cells(dim, degree);
  test::expect_orders(
      test::observed_orders(test::poisson(dim), jittered_box(shape, n), jittered_box(shape, 2 * n), degree), degree);
}

INSTANTIATE_TEST_SUITE_P(shapes, JitteredOrder,
                         ::testing::Values(OrderCase{"quadrilateral", 1}, OrderCase{"quadrilateral", 3},
                                           OrderCase{"hexahedron", 2}, OrderCase{"hexahedron", 3},
                                           OrderCase{"prism", 2}, OrderCase{"pyramid", 2}),
                         test::name_of);

class ErrorNorms : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorNorms, functionals_measure_what_point_evaluation_does) {
  const int dim = test::box_dimension(GetParam());
  const test::ManufacturedProblem problem(test::elasticity(dim), test::moved_box(GetParam(), 2), 2);
  const auto by_points = problem.errors(), by_functionals = problem.errors_by_functionals();
  EXPECT_NEAR(by_functionals.l2 / by_points.l2, 1, 1e-9);
  EXPECT_NEAR(by_functionals.h1 / by_points.h1, 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(shapes, ErrorNorms, ::testing::ValuesIn(test::box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
