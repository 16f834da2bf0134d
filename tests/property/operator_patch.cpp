// SPDX-License-Identifier: BSD-3-Clause
// In a patch test, a polynomial that the space holds is the solution for its source and its values on the boundary.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/cg.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>

namespace rafter::test {
namespace {

class Patch : public ::testing::TestWithParam<std::string> {};

TEST_P(Patch, PolynomialsOfTheDegreeOnStraightCells) {
  for (const int degree : {1, 2, 3})
    for (const double kappa : {0.0, 2.0}) {
      Problem problem(scrambled(box(GetParam(), degree == 1 ? 4 : 0), 9), degree);
      EXPECT_LE(solution_error(problem, {degree, problem.dim()}, kappa), patch_tolerance) << "degree " << degree;
    }
}

TEST_P(Patch, LinearFunctionsOnDistortedCells) {
  Problem problem(curved_box(GetParam(), 1), 1);
  EXPECT_LE(solution_error(problem, {1, problem.dim()}, 0.0), patch_tolerance);
}

TEST_P(Patch, LinearFunctionsOnCurvedCellsOfTheSameDegree) {
  Problem problem(curved_box(GetParam(), 2), 2);
  EXPECT_LE(solution_error(problem, {1, problem.dim()}, 0.0, 8), patch_tolerance);
}

TEST_P(Patch, AnotherPolynomialIsNotASolution) { // this shows that the test above can fail
  Problem problem(box(GetParam()), 1);
  EXPECT_GT(solution_error(problem, {2, problem.dim()}, 2.0), 1e-6);
}

TEST_P(Patch, ConstantStressOnDistortedCells) {
  mesh::Mesh mesh = curved_box(GetParam(), 1);
  const int dim = mesh.gdim;
  Problem problem(std::move(mesh), 1, dim);
  problem.with("kappa", 1.3);
  const auto exact = [](std::span<const double> x, std::size_t c) {
    double value = 0.1 * static_cast<double>(c);
    for (std::size_t d = 0; d < x.size(); ++d)
      value += (0.2 * static_cast<double>(c + 1) - 0.3 * static_cast<double>(d)) * x[d];
    return value;
  };
  const op::Operator A(problem.form(elasticity_form(dim)),
                       planned({.threads = 2, .dirichlet = {dirichlet(problem.space(), exact)}}));
  Vector b = A.make_vector(), x = A.make_vector();
  std::ranges::fill(b.host_overwrite(), 0.0);
  std::ranges::fill(x.host_overwrite(), 0.0);
  A.apply_boundary_values(b, x);
  const auto result = solvers::cg(A, b, x, solvers::Identity(A.device()), {.control = {.rtol = 1e-13}});
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  const auto expected = problem.interpolated(x, exact);
  EXPECT_LE(distance(x.host_read(), expected.host_read()), patch_tolerance * largest(expected.host_read()));
}

INSTANTIATE_TEST_SUITE_P(every_shape, Patch, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

class NaturalConditions : public ::testing::TestWithParam<std::string> {};

TEST_P(NaturalConditions, TractionOfALinearFieldIsInEquilibrium) {
  // A linear u satisfies A u = L with its flux on the whole boundary and without Dirichlet conditions.
  const op::OperatorOptions options = interpreted();
  Problem problem(scrambled(box(GetParam()), 4), 1);
  const Power exact{1, problem.dim()};
  const op::Operator A(problem.with("kappa", 0.0).form(helmholtz_form()), options);
  std::string flux = "(0";
  for (int d = 0; d < problem.dim(); ++d)
    flux += fmt::format(" + {}*n[{}]", Power::coefficient(static_cast<std::size_t>(d)), d);
  Vector b = A.make_vector();
  op::LinearForm(problem.form(flux + ")*v*ds"), problem.system(), options).assemble(b);
  const auto Au = applied(A, problem.interpolated(b, exact));
  EXPECT_LE(distance(Au.host_read(), b.host_read()), 1e-13 * (1 + largest(b.host_read())));
}

INSTANTIATE_TEST_SUITE_P(every_shape, NaturalConditions, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
