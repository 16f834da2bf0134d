// SPDX-License-Identifier: BSD-3-Clause
// What the forecast of iterations knows of meshes, forms and conditions. tests/unit/command_choices.cpp compares it
// with iterations that were counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/problem/jacobi_forecast.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::test {
namespace {

constexpr double rtol = 1e-8;

/// Of conjugate gradients on a box, whose sides with these tags are fixed (none: all sides are).
struct Forecast {
  std::string form = "inner(grad(u), grad(v))*dx";
  std::vector<std::int32_t> tags{};
  int degree = 1;
  double iterations(mesh::Mesh box) const { return iterations(std::make_shared<const mesh::Mesh>(std::move(box))); }
  double iterations(const std::shared_ptr<const mesh::Mesh>& mesh) const {
    const auto discretisation =
        std::make_shared<const space::Discretisation>(mesh, space::DiscretisationOptions{.degree = degree});
    const auto space = space::FunctionSpace::make(discretisation, {.degree = degree, .name = "u"});
    form::Scope scope(mesh->gdim);
    const std::shared_ptr<const form::FieldSpace> field = space;
    scope.add_arguments({&field, 1});
    const auto zero = [](std::span<const double>, std::span<double> values) { std::ranges::fill(values, 0.0); };
    const std::vector<op::FieldCondition> fixed{
        {.space = space, .condition = {.tags = tags, .is_all = tags.empty(), .value = zero}}};
    return problem::expected_jacobi_iterations(form::lower(form::parse_form(form, scope)), op::make_system({space}),
                                               fixed, {}, rtol);
  }
};

/// Each of n intervals of length 1/n adds n to two entries of the diagonal, so that sin(pi x) has the energy pi^2 / 2
/// and the diagonal weighs it by n^2.
TEST(JacobiForecast, IsTheFormulaOnIntervals) {
  for (const int n : {50, 200}) {
    const double quotient = std::numbers::pi * std::numbers::pi / (2.0 * n * n);
    EXPECT_NEAR(Forecast().iterations(mesh::make_box({.cells = {n}})) /
                    (std::sqrt(0.19 / quotient) * std::log(2 / rtol)),
                1, 0.02);
  }
}

/// Cells of a box stand in rows, whose number has divisors in common with that of the samples.
TEST(JacobiForecast, DoesNotDependOnTheOrderOfCells) {
  const mesh::BoxOptions box{.cells = {250, 200}};
  const double in_rows = Forecast().iterations(mesh::make_box(box));
  EXPECT_NEAR(Forecast().iterations(mesh::box_generations(box, 0).finest()) / in_rows, 1, 0.05);
  EXPECT_NEAR(in_rows / Forecast().iterations(mesh::make_box({.cells = {125, 100}})), 2, 0.1);
}

TEST(JacobiForecast, SidesThatAreFreeDoubleTheLength) {
  const auto box = [] { return mesh::make_box({.cells = {100, 1}, .size = {1, 1}}); };
  const double both = Forecast{.tags = {1, 2}}.iterations(box()), one = Forecast{.tags = {1}}.iterations(box());
  EXPECT_NEAR(one / both, 2, 0.05);
}

TEST(JacobiForecast, TermsWithoutDerivativesTakeIterationsAway) {
  const auto box = [] { return mesh::make_box({.cells = {40, 40}}); };
  const double stiff = Forecast().iterations(box());
  EXPECT_LT(Forecast{.form = "inner(grad(u), grad(v))*dx + 1000.0*u*v*dx"}.iterations(box()), 0.3 * stiff);
  EXPECT_NEAR(Forecast{.form = "1e6*inner(grad(u), grad(v))*dx"}.iterations(box()) / stiff, 1, 1e-6) << "units";
}

/// The condition number is that of the finest cells against the whole length.
TEST(JacobiForecast, StretchedCellsTakeMore) {
  const double squares = Forecast().iterations(mesh::make_box({.cells = {30, 30}}));
  const double stretched = Forecast().iterations(mesh::make_box({.cells = {300, 30}}));
  EXPECT_GT(stretched, 3 * squares);
}

/// What is not positive is taken for the Laplacian, so that some number comes out.
TEST(JacobiForecast, FormsThatAreNotPositiveCountAsTheLaplacian) {
  const auto box = [] { return mesh::make_box({.cells = {20, 20}}); };
  const double laplacian = Forecast().iterations(box());
  for (const auto* form : {"-inner(grad(u), grad(v))*dx - u*v*dx", "inner(grad(u), grad(v))*dx - 1e4*u*v*dx"})
    EXPECT_DOUBLE_EQ(Forecast{.form = form}.iterations(box()), laplacian) << form;
}

} // namespace
} // namespace rafter::test
