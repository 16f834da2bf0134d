// SPDX-License-Identifier: BSD-3-Clause
// Coefficients that change within cells: how they are found, and what levels of multigrid make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/generate/sampled_integrand.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/multigrid_problems.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

double jump_of(const std::string& form, mesh::BoxOptions box = {.cells = {4, 4}}, int components = 0,
               std::optional<double> value_of_c = {}) {
  const auto mesh = std::make_shared<const mesh::Mesh>(mesh::make_box(box));
  const auto discretisation = std::make_shared<const space::Discretisation>(mesh, space::DiscretisationOptions{});
  const auto space = space::FunctionSpace::make(discretisation, {.components = components, .name = "u"});
  form::Scope scope(mesh->gdim);
  const std::shared_ptr<const form::FieldSpace> field = space;
  scope.add_arguments({&field, 1});
  scope.add("c", form::parameter("c"));
  std::vector<std::pair<std::string, double>> parameters;
  if (value_of_c) parameters.emplace_back("c", *value_of_c);
  return op::largest_jump_within_cells(form::lower(form::parse_form(form, scope)), op::make_system({space}),
                                       parameters);
}

TEST(SampledIntegrand, JumpsAtFacetsAreNone) {
  EXPECT_EQ(jump_of("3*inner(grad(u), grad(v))*dx"), 1);
  EXPECT_EQ(jump_of("conditional(x[0] > 0.5, 1e6, 1)*inner(grad(u), grad(v))*dx"), 1);
}

TEST(SampledIntegrand, JumpsWithinCellsAreFound) {
  for (const auto* shape : {"triangle", "quadrilateral"})
    EXPECT_DOUBLE_EQ(
        jump_of("conditional(x[0] > 0.6, 1e6, 1)*inner(grad(u), grad(v))*dx", {.cells = {4, 4}, .shape = shape}), 1e6);
  EXPECT_DOUBLE_EQ(
      jump_of("conditional(x[0] > 0.6, 1, 1e3)*inner(sym(grad(u)), sym(grad(v)))*dx", {.cells = {4, 4}}, 2), 1e3);
  EXPECT_TRUE(std::isinf(jump_of("conditional(x[0] > 0.6, 1, 0)*inner(grad(u), grad(v))*dx")));
}

TEST(SampledIntegrand, ParametersCountWithTheirValues) {
  const auto* form = "conditional(x[0] > 0.6, c, 1)*inner(grad(u), grad(v))*dx";
  EXPECT_EQ(jump_of(form), 1); // without a value they are 1
  EXPECT_DOUBLE_EQ(jump_of(form, {.cells = {4, 4}}, 0, 1e5), 1e5);
}

/// The body reaches a thousandth of the cells.
TEST(SampledIntegrand, SmallBodiesAreFound) {
  EXPECT_DOUBLE_EQ(jump_of("conditional((x[0] - 0.3)**2 + (x[1] - 0.3)**2 < 0.0004, 1e3, 1)*inner(grad(u), grad(v))*dx",
                           {.cells = {80, 80}}),
                   1e3);
}

TEST(SampledIntegrand, ValuesCountWhereThereAreNoDerivatives) {
  EXPECT_DOUBLE_EQ(jump_of("conditional(x[0] > 0.6, 1e4, 1)*u*v*dx"), 1e4);
}

TEST(SampledIntegrand, SmoothCoefficientsChangeLittle) {
  const double jump = jump_of("exp(x[0])*inner(grad(u), grad(v))*dx");
  EXPECT_NEAR(jump, std::exp(0.8 * 0.25), 1e-12);
}

/// With the points of the finest level, lower degrees on the same straight cells are exactly P^T A P.
class LevelsOfJumps : public testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(LevelsOfJumps, AreGalerkinProducts) {
  const auto& [shape, degree] = GetParam();
  const std::vector<int> cells = shape == "quadrilateral" ? std::vector{5, 4} : std::vector{3, 3, 3};
  const LevelledProblem problem(refined(mesh::make_box({.cells = cells, .shape = shape}), 0),
                                {.form = "conditional(x[0] + 0.3*x[1] > 0.61, 1e6, 1)*inner(grad(u), grad(v))*dx",
                                 .degree = degree,
                                 .coarsening = {.steps = {op::CoarseningStep::p}, .enough_unknowns = 1}});
  ASSERT_FALSE(problem.levels().empty());
  const auto* finer = &problem.A();
  for (std::size_t l = problem.levels().size(); l-- > 0;) {
    const auto& level = problem.levels()[l];
    const auto& fixed = level.A->constraints().entries;
    auto x = random_residual(*level.A, 7);
    for (const auto entry : fixed) x.host_write()[static_cast<std::size_t>(entry)] = 0;
    auto fine = finer->make_vector(), product = finer->make_vector();
    auto found = level.A->make_vector(), restricted = level.A->make_vector();
    level.to_finer->prolongate(x, fine);
    finer->apply(fine, product);
    level.to_finer->restrict_to(product, restricted);
    level.A->apply(x, found);
    const auto expected = values_of(restricted), values = values_of(found);
    const double largest = std::abs(*std::ranges::max_element(expected, {}, [](double y) { return std::abs(y); }));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_fixed = std::ranges::binary_search(fixed, static_cast<std::int32_t>(i));
      ASSERT_NEAR(values[i], is_fixed ? 0 : expected[i], 1e-12 * largest) << "level " << l << ", entry " << i;
    }
    finer = level.A.get();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LevelsOfJumps,
                         testing::Values(std::pair<std::string, int>{"quadrilateral", 4},
                                         std::pair<std::string, int>{"tetrahedron", 2},
                                         std::pair<std::string, int>{"hexahedron", 2}),
                         [](const auto& tested) { return tested.param.first + std::to_string(tested.param.second); });

/// 1066 iterations with points of the levels' own, on 16 cells along each edge.
TEST(LevelsOfJumpsWithinCells, TakeFewIterations) {
  const std::string k = "conditional(sin(17*x[0])*sin(17*x[1])*sin(17*x[2]) > 0, 1e6, 1)";
  const LevelledProblem problem(refined(mesh::make_box({.cells = {4, 4, 4}}), 1),
                                {.form = k + "*inner(grad(u), grad(v))*dx", .degree = 2});
  EXPECT_LE(problem.iterations(), 60);
}

} // namespace
} // namespace rafter::test
