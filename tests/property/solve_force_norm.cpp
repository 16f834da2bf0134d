// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/rafter.hpp>
#include <rafter/solve/force_norm.hpp>
#include <tests/support/planner.hpp>

using namespace rafter;

namespace {

/// A nearly incompressible solid has displacements on its whole boundary: a rotation, which costs no energy, and a
/// shear.
struct Solid {
  FunctionSpace V{make_box({.cells = {4, 4}, .size = {1, 1}, .shape = "quadrilateral"}),
                  {.degree = 2, .components = 2}};
  Operator A;
  explicit Solid(double lame) : A(make(V, lame)) {}
  static Operator make(const FunctionSpace& V, double lame) {
    auto [u, v] = arguments(V);
    const auto value = [](std::span<const double> x, std::span<double> at) {
      at[0] = 2 * x[1];
      at[1] = -x[0];
    };
    OperatorOptions options{.dirichlet = {V.fixed({1, 2, 3, 4}, value)}};
    options.planner = test::planner();
    return {(2 * inner(sym(grad(u)), sym(grad(v))) + lame * div(u) * div(v)) * dx, options};
  }
};

/// Returns the 2-norm of the residual on free unknowns relative to that of the reactions, for a load of zero.
double residual_of_reactions(const Operator& A, const Vector& x) {
  Vector image = A.make_vector();
  A.apply_free(x, image);
  std::vector<char> is_fixed(static_cast<std::size_t>(A.size()), 0);
  for (const auto entry : A.constraints().entries) is_fixed[static_cast<std::size_t>(entry)] = 1;
  double free = 0, fixed = 0;
  for (std::size_t i = 0; i < is_fixed.size(); ++i) (is_fixed[i] ? fixed : free) += std::pow(image.host_read()[i], 2);
  return std::sqrt(free / fixed);
}

TEST(ForceNorm, LiftedBoundaryValuesDoNotHideTheResidual) {
  const Solid solid(1e3);
  Vector zero = solid.A.make_vector();
  solvers::VectorOps(solid.A.device()).fill(0, zero);
  for (const char* method : {"cg", "gmres"}) {
    const auto result = solve(solid.A, zero, {.method = method, .rtol = 1e-8, .max_iterations = 20000});
    ASSERT_TRUE(result.is_converged()) << method << ": " << result.info.message;
    const double residual = residual_of_reactions(solid.A, result.solution);
    EXPECT_LE(residual, 1.001e-8) << method;
    ASSERT_TRUE(result.info.norms);
    EXPECT_NEAR(result.info.norms->residual, residual, 1e-3 * residual) << method;
    EXPECT_LE(result.info.norms->of_first_residual, 0.1 * residual) << "which would have been content long before";
  }
}

TEST(ForceNorm, IsThatOfTheLoadsWhereBoundaryValuesAreZero) {
  const Solid solid(1);
  const FunctionSpace V(solid.V);
  auto [u, v] = arguments(V);
  OperatorOptions options{.dirichlet = {V.fixed({1}, {0, 0})}};
  options.planner = test::planner();
  const Operator A((2 * inner(sym(grad(u)), sym(grad(v))) + div(u) * div(v)) * dx, options);
  EXPECT_FALSE(solvers::force_norm(A, A.make_vector()));
}

} // namespace
