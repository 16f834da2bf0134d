// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <rafter/element/basis.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/quadrature.hpp>

#include <tests/support/shape_names.hpp>

using namespace rafter::element;

namespace {

class BasisTest : public testing::TestWithParam<Shape> {};
} // namespace

TEST_P(BasisTest, IsOrthonormal) {
  for (int degree = 0; degree <= (is_tensor(GetParam()) && dimension(GetParam()) == 3 ? 4 : 8); ++degree) {
    const auto rule = make_quadrature(GetParam(), 2 * degree);
    const auto basis = tabulate_orthonormal(GetParam(), degree, rule.points);
    for (int i = 0; i < basis.num_dofs; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int q = 0; q < basis.num_points; ++q) sum += rule.weights[q] * basis(0, q, i) * basis(0, q, j);
        ASSERT_NEAR(sum, i == j ? 1 : 0, 1e-13) << "degree " << degree << ", " << i << " " << j;
      }
  }
}

TEST_P(BasisTest, GradientsAreTheSlopesOfTheValues) {
  // Central differences with Richardson extrapolation have an error of order h^4 and rounding errors of eps / h times
  // the size of the functions.
  const int dim = dimension(GetParam()), degree = 5;
  const auto points = make_quadrature_with_points(GetParam(), 2).points;
  const auto basis = tabulate_orthonormal(GetParam(), degree, points);
  for (int d = 0; d < dim; ++d) {
    const auto shifted = [&](double step) {
      auto moved = points;
      for (std::size_t row = 0; row < moved.size(); row += static_cast<std::size_t>(dim)) moved[row + d] += step;
      return tabulate_orthonormal(GetParam(), degree, moved);
    };
    const double h = 1e-3;
    const auto p1 = shifted(h), m1 = shifted(-h), p2 = shifted(2 * h), m2 = shifted(-2 * h);
    for (int q = 0; q < basis.num_points; ++q)
      for (int i = 0; i < basis.num_dofs; ++i) {
        const double slope = (8 * (p1(0, q, i) - m1(0, q, i)) - (p2(0, q, i) - m2(0, q, i))) / (12 * h);
        EXPECT_NEAR(basis(d + 1, q, i), slope, 1e-6 * (1 + std::abs(slope)));
      }
  }
}

TEST_P(BasisTest, IsFiniteAtTheVertices) {
  const auto basis = tabulate_orthonormal(GetParam(), 7, reference_vertices(GetParam()));
  for (const double value : basis.values) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(BasisTest, IsHierarchicalOnShapesThatAreNoProduct) {
  if (factors(GetParam()).size() > 1) GTEST_SKIP() << "products are lexicographic";
  const auto points = make_quadrature_with_points(GetParam(), 3).points;
  const auto low = tabulate_orthonormal(GetParam(), 3, points), high = tabulate_orthonormal(GetParam(), 4, points);
  for (int d = 0; d <= low.dim; ++d)
    for (int q = 0; q < low.num_points; ++q)
      for (int i = 0; i < low.num_dofs; ++i) EXPECT_EQ(low(d, q, i), high(d, q, i));
}

INSTANTIATE_TEST_SUITE_P(All, BasisTest, testing::ValuesIn(all_cell_shapes), rafter::test::shape_name);

TEST(Basis, PyramidIsContinuousAtTheApexAndReturnsTheGradientAlongTheAxis) {
  const std::array apex{-1., -1., 1.};
  const std::array near{-1 + 1e-7, -1 + 1e-7, 1 - 2e-7}; // half way between the edges of the section
  const auto at = tabulate_orthonormal(Shape::pyramid, 4, apex), close = tabulate_orthonormal(Shape::pyramid, 4, near);
  for (std::size_t i = 0; i < at.values.size(); ++i) EXPECT_NEAR(at.values[i], close.values[i], 2e-4) << i;
}

/// Sizes are below, at and above those that are computed together.
TEST(Dense, ProductsAreSumsOverTheInnerIndex) {
  for (const auto& [rows, inner, cols] : {std::array{1, 1, 1}, std::array{4, 7, 16}, std::array{9, 33, 35},
                                          std::array{5, 20, 3}, std::array{64, 50, 48}}) {
    std::vector<double> left, right, expected(static_cast<std::size_t>(rows * cols), 0.0);
    for (int i = 0; i < rows * inner; ++i) left.push_back(std::sin(1.7 * i));
    for (int i = 0; i < inner * cols; ++i) right.push_back(std::cos(0.9 * i));
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < inner; ++k)
        for (int j = 0; j < cols; ++j)
          expected[static_cast<std::size_t>(i * cols + j)] +=
              left[static_cast<std::size_t>(i * inner + k)] * right[static_cast<std::size_t>(k * cols + j)];
    const auto found = multiplied(left, right, inner);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13) << rows << " " << cols;
    EXPECT_EQ(transposed(transposed(left, inner), rows), left);
  }
}

TEST(Dense, InverseAndNormOfAKnownMatrix) {
  const std::vector<double> matrix{0, 2, 0, 0, 0, -3, 4, 0, 0}; // has singular values 2, 3, 4 and needs pivoting
  const std::vector<double> expected{0, 0, 0.25, 0.5, 0, 0, 0, -1. / 3, 0};
  const auto result = inverse(matrix, 3);
  for (int i = 0; i < 9; ++i) EXPECT_DOUBLE_EQ(result[i], expected[i]);
  EXPECT_NEAR(spectral_norm(matrix, 3), 4, 0.04);
}
