// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/element/symmetric_rules.hpp>

#include <tests/support/shape_names.hpp>

using namespace rafter::element;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

class QuadratureTest : public testing::TestWithParam<Shape> {};
double factorial(int n) { return std::tgamma(n + 1.); }

/// Returns the integral of s^a over the cell in [0,1]^d, s = (x+1)/2, in closed form.
double monomial_integral(Shape shape, const std::array<int, 3>& a) {
  switch (shape) {
  case Shape::triangle:
    return factorial(a[0]) * factorial(a[1]) / factorial(a[0] + a[1] + 2);
  case Shape::tetrahedron:
    return factorial(a[0]) * factorial(a[1]) * factorial(a[2]) / factorial(a[0] + a[1] + a[2] + 3);
  case Shape::prism:
    return monomial_integral(Shape::triangle, a) / (a[2] + 1);
  case Shape::pyramid: // sections are squares with side 1 - s2
    return factorial(a[2]) * factorial(a[0] + a[1] + 2) / factorial(a[0] + a[1] + a[2] + 3) / ((a[0] + 1) * (a[1] + 1));
  default:
    return 1. / ((a[0] + 1) * (a[1] + 1) * (a[2] + 1));
  }
}

double monomial_sum(const Quadrature& rule, const std::array<int, 3>& a) {
  const int dim = dimension(rule.shape);
  double sum = 0;
  for (int q = 0; q < rule.num_points(); ++q) {
    double value = std::ldexp(rule.weights[q], -dim);
    for (int i = 0; i < dim; ++i) value *= std::pow(0.5 * (rule.points[q * dim + i] + 1), a[i]);
    sum += value;
  }
  return sum;
}

/// Returns the largest error, relative to the volume of the cell, over the monomials that the rule shall integrate
/// exactly.
double worst_monomial_error(const Quadrature& rule, int degree) {
  const int dim = dimension(rule.shape);
  double worst = 0;
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; j <= (dim > 1 ? degree : 0); ++j)
      for (int k = 0; k <= (dim > 2 ? degree : 0); ++k)
        if (is_tensor(rule.shape) || i + j + k <= degree)
          worst = std::max(worst, std::abs(monomial_sum(rule, {i, j, k}) - monomial_integral(rule.shape, {i, j, k})));
  return worst / std::ldexp(reference_volume(rule.shape), -dim);
}

/// Values near 1 have a relative error of about degree * eps from the points; weights and sums add a few eps.
double rounding_bound(int degree) { return 4 * (degree + 4) * eps; }

bool is_inside(Shape shape, std::span<const double> point) {
  const int dim = dimension(shape);
  for (int f = 0; f < num_facets(shape); ++f) {
    const auto normal = reference_normal(shape, f);
    const int corner = entity_vertices(shape, dim - 1, f)[0];
    double height = 0;
    for (int i = 0; i < dim; ++i) height += normal[i] * (point[i] - reference_vertices(shape)[corner * dim + i]);
    if (height > eps) return false;
  }
  return true;
}

} // namespace

TEST_P(QuadratureTest, IntegratesMonomialsExactlyToItsDegree) {
  const int highest = dimension(GetParam()) == 3 ? 12 : 24;
  for (int degree = 0; degree <= highest; ++degree) {
    const auto rule = make_quadrature(GetParam(), degree);
    EXPECT_GE(rule.degree, degree);
    EXPECT_LT(worst_monomial_error(rule, degree), rounding_bound(degree)) << "degree " << degree;
  }
}

TEST_P(QuadratureTest, CollapsedAndLobattoRulesIntegrateMonomialsExactlyToTheirDegree) {
  for (const auto kind : {QuadratureKind::gauss, QuadratureKind::gll})
    for (int n = 2; n <= 7; ++n) {
      const auto rule = make_quadrature_with_points(GetParam(), n, kind);
      EXPECT_EQ(rule.degree, kind == QuadratureKind::gll && is_tensor(GetParam()) ? 2 * n - 3 : 2 * n - 1);
      EXPECT_EQ(rule.num_points(), static_cast<int>(std::lround(std::pow(n, dimension(GetParam())))));
      EXPECT_LT(worst_monomial_error(rule, rule.degree), rounding_bound(rule.degree)) << n << " points";
    }
}

TEST_P(QuadratureTest, WeightsArePositiveAndSumToTheVolumeAndPointsLieInside) {
  for (int degree : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 31, max_quadrature_degree}) {
    const auto rule = make_quadrature(GetParam(), degree);
    const double sum = std::accumulate(rule.weights.begin(), rule.weights.end(), 0.);
    EXPECT_NEAR(sum, reference_volume(GetParam()), reference_volume(GetParam()) * rule.num_points() * eps + 8 * eps);
    EXPECT_GT(*std::ranges::min_element(rule.weights), 0);
    const auto dim = static_cast<std::size_t>(dimension(GetParam()));
    ASSERT_EQ(rule.points.size(), rule.weights.size() * dim);
    for (std::size_t row = 0; row < rule.points.size(); row += dim)
      ASSERT_TRUE(is_inside(GetParam(), std::span(rule.points).subspan(row, dim))) << "degree " << degree;
  }
}

TEST_P(QuadratureTest, DegreesOutOfRangeAreRefused) {
  EXPECT_THROW(make_quadrature(GetParam(), -1), rafter::base::InputError);
  EXPECT_THROW(make_quadrature(GetParam(), max_quadrature_degree + 1), rafter::base::InputError);
  EXPECT_THROW(make_quadrature_with_points(GetParam(), 0), rafter::base::InputError);
}

TEST_P(QuadratureTest, NeverTakesMorePointsThanTheCollapsedOrTensorRule) {
  for (int degree = 0; degree <= 20; ++degree)
    EXPECT_LE(make_quadrature(GetParam(), degree).num_points(),
              make_quadrature_with_points(GetParam(), degree / 2 + 1).num_points());
}

INSTANTIATE_TEST_SUITE_P(All, QuadratureTest, testing::ValuesIn(all_cell_shapes), rafter::test::shape_name);

TEST(Quadrature, TensorRulesAreProductsOfTheirLineFirstAxisFastest) {
  for (const Shape shape : {Shape::interval, Shape::quadrilateral, Shape::hexahedron}) {
    const auto rule = make_quadrature_with_points(shape, 4);
    const int dim = dimension(shape);
    for (int q = 0; q < rule.num_points(); ++q) {
      double weight = 1;
      for (int i = 0, index = q; i < dim; ++i, index /= 4) {
        EXPECT_EQ(rule.points[q * dim + i], rule.lines[static_cast<std::size_t>(i)].points[index % 4]);
        weight *= rule.lines[static_cast<std::size_t>(i)].weights[index % 4];
      }
      EXPECT_DOUBLE_EQ(rule.weights[q], weight);
    }
  }
}

TEST(Quadrature, TensorRulesAreTheSmallestOfTheirDegree) {
  for (int n = 2; n <= 10; ++n) {
    EXPECT_EQ(make_quadrature(Shape::interval, 2 * n - 2).num_points(), n);
    EXPECT_EQ(make_quadrature(Shape::interval, 2 * n - 1).num_points(), n);
    EXPECT_EQ(make_quadrature(Shape::interval, 2 * n - 3, QuadratureKind::gll).num_points(), n);
    EXPECT_EQ(make_quadrature(Shape::interval, 2 * n - 2, QuadratureKind::gll).num_points(), n + 1);
  }
}

TEST(Quadrature, RulesFailOneDegreeBeyondTheirs) {
  // The polynomial is the square of the Legendre polynomial whose zeros are the Gauss points, or whose derivative's
  // zeros are the inner Lobatto points. Gauss rules return 0, Lobatto rules 2/(n-1) in place of 2/(2n-1).
  for (int n = 2; n <= 12; ++n) {
    const auto square_sum = [](const Quadrature& rule, int degree) {
      const auto basis = tabulate_orthonormal(Shape::interval, degree, rule.points);
      double sum = 0;
      for (int q = 0; q < rule.num_points(); ++q) sum += rule.weights[q] * std::pow(basis(0, q, degree), 2);
      return sum; // an exact rule would give 1
    };
    EXPECT_NEAR(square_sum(make_quadrature_with_points(Shape::interval, n), n), 0, 1e-13);
    EXPECT_NEAR(square_sum(make_quadrature_with_points(Shape::interval, n, QuadratureKind::gll), n - 1),
                (2 * n - 1.) / (n - 1), 1e-13);
  }
}

TEST(Quadrature, SymmetricRulesAreInvariantUnderVertexPermutations) {
  for (const Shape shape : {Shape::triangle, Shape::tetrahedron})
    for (int degree = 0; symmetric_rule(shape, degree); ++degree) {
      const auto rule = *symmetric_rule(shape, degree);
      const int dim = dimension(shape);
      const auto has_point = [&](const std::vector<double>& x, double weight) {
        for (int q = 0; q < rule.num_points(); ++q) {
          double distance = 0;
          for (int i = 0; i < dim; ++i) distance = std::max(distance, std::abs(rule.points[q * dim + i] - x[i]));
          if (distance < 1e-14 && rule.weights[q] == weight) return true;
        }
        return false;
      };
      for (int q = 0; q < rule.num_points(); ++q) { // exchanges vertices 0 and 1, then shifts all vertices by one
        const auto x = std::vector(rule.points.begin() + q * dim, rule.points.begin() + (q + 1) * dim);
        // This is barycentric coordinate 0, scaled to the reference cell.
        const double first = 1 - std::accumulate(x.begin(), x.end(), 1. * dim);
        auto swapped = x;
        swapped[0] = first;
        auto shifted = x;
        std::rotate(shifted.begin(), shifted.end() - 1, shifted.end());
        shifted[0] = first;
        EXPECT_TRUE(has_point(swapped, rule.weights[q])) << name(shape) << " degree " << degree;
        EXPECT_TRUE(has_point(shifted, rule.weights[q])) << name(shape) << " degree " << degree;
      }
    }
}

TEST(Quadrature, ThePointRuleEvaluates) {
  const auto rule = make_quadrature(Shape::point, 3);
  EXPECT_EQ(rule.num_points(), 1);
  EXPECT_EQ(rule.weights[0], 1);
}

TEST(Quadrature, LobattoRuleOfFivePointsIsTheOneInClosedForm) {
  const auto rule = gauss_lobatto(5);
  const std::array points{-1., -std::sqrt(3. / 7), 0., std::sqrt(3. / 7), 1.};
  const std::array weights{1. / 10, 49. / 90, 32. / 45, 49. / 90, 1. / 10};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(rule.points[i], points[i], eps);
    EXPECT_NEAR(rule.weights[i], weights[i], eps);
  }
}

TEST(Quadrature, JacobiRulesAreAccurateToRoundingForManyPoints) {
  // The moments of (1-x)^alpha ((1-x)/2)^k are 2^(alpha+1) / (alpha + k + 1).
  for (int alpha = 0; alpha <= 2; ++alpha)
    for (const int n : {1, 2, 5, 16, 31, 64}) {
      const auto rule = gauss_jacobi(n, alpha);
      EXPECT_TRUE(std::ranges::is_sorted(rule.points));
      for (int k = 0; k < 2 * n; ++k) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += rule.weights[i] * std::pow(0.5 * (1 - rule.points[i]), k);
        const double exact = std::ldexp(1., alpha + 1) / (alpha + k + 1);
        EXPECT_NEAR(sum, exact, exact * rounding_bound(k)) << "alpha " << alpha << ", " << n << " points, k " << k;
      }
    }
}
