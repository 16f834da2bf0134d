// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <rafter/element/basis.hpp>
#include <rafter/element/projection.hpp>

#include <tests/support/shape_names.hpp>

using namespace rafter::element;

namespace {

class ProjectionTest : public testing::TestWithParam<Shape> {};
/// Polynomials of the degree are kept; polynomials of the next degree that are orthogonal to them become zero.
TEST_P(ProjectionTest, KeepsPolynomialsAndTakesTheOrthogonalOnesAway) {
  const Shape shape = GetParam();
  const int degree = 2;
  const auto rule = make_quadrature(shape, 2 * degree + 2);
  const auto other = make_quadrature(shape, 1).points;
  const auto matrix = projection_matrix(shape, degree, rule, other);
  const auto num_kept = tabulate_orthonormal(shape, degree, rule.points).num_dofs;
  const auto from = tabulate_orthonormal(shape, degree + 1, rule.points),
             kept = tabulate_orthonormal(shape, degree, rule.points),
             expected = tabulate_orthonormal(shape, degree, other);
  ASSERT_EQ(matrix.size(), static_cast<std::size_t>(from.num_points * expected.num_points));
  const auto projected = [&](const auto& values, int p) {
    double sum = 0;
    for (int q = 0; q < from.num_points; ++q)
      sum += matrix[static_cast<std::size_t>(q * expected.num_points + p)] * values(q);
    return sum;
  };
  const auto is_kept = [&](int i) { // whether a function of degree 3 has a part of degree 2
    double largest = 0;
    for (int j = 0; j < num_kept; ++j) {
      double product = 0;
      for (int q = 0; q < from.num_points; ++q)
        product += rule.weights[static_cast<std::size_t>(q)] * from(0, q, i) * kept(0, q, j);
      largest = std::max(largest, std::abs(product));
    }
    return largest > 1e-10;
  };
  int num_orthogonal = 0;
  for (int p = 0; p < expected.num_points; ++p) {
    for (int i = 0; i < num_kept; ++i)
      EXPECT_NEAR(projected([&](int q) { return kept(0, q, i); }, p), expected(0, p, i), 1e-12);
    for (int i = 0; i < from.num_dofs; ++i) {
      if (is_kept(i)) continue;
      ++num_orthogonal;
      EXPECT_NEAR(projected([&](int q) { return from(0, q, i); }, p), 0, 1e-12);
    }
  }
  EXPECT_GT(num_orthogonal, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ProjectionTest,
                         testing::Values(Shape::interval, Shape::triangle, Shape::quadrilateral, Shape::tetrahedron,
                                         Shape::hexahedron, Shape::prism, Shape::pyramid),
                         rafter::test::shape_name);

} // namespace
