// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include <rafter/rafter.hpp>
#include <tests/support/planner.hpp>

/// Algebraic multigrid in Newton's method and in steps in time knows the rigid-body modes of elasticity, as in solve().
namespace {

using namespace rafter;

/// A clamped beam, pulled aside; levels of aggregates with constants alone serve it badly.
struct Beam {
  FunctionSpace V{make_box({.cells = {40, 4, 4}, .size = {10, 1, 1}, .shape = "tetrahedron"}),
                  {.degree = 1, .components = 3}};
  Expr u = field(V.ptr(), "u");
  OperatorOptions discretisation = rafter::test::planned({.threads = 1});

  Beam() { discretisation.dirichlet = {V.fixed({1}, {0.0, 0.0, 0.0})}; }
  Form stiffness() const {
    const auto v = arguments(V).second;
    return (inner(div(u) * identity(3) + 2 * sym(grad(u)), sym(grad(v))) - 0.01 * v[2]) * dx;
  }
  std::function<solvers::NearNullSpace()> constants() const {
    return [size = V->num_local()] { return solvers::constant_near_null_space(size); };
  }
  int newton_iterations(std::function<solvers::NearNullSpace()> near_null_space) const {
    NonlinearOptions options{.discretisation = discretisation};
    options.newton.solver.preconditioner = "amg";
    options.newton.solver.near_null_space = std::move(near_null_space);
    const auto result = solve_nonlinear(stiffness(), {u}, options);
    EXPECT_TRUE(result.is_converged()) << result.info.message;
    return result.info.linear_iterations;
  }
  int step_iterations(std::function<solvers::NearNullSpace()> near_null_space) const {
    const auto v = arguments(V).second;
    TimeOptions options{.end = 1, .step = 1, .discretisation = discretisation};
    options.solvers.solver.preconditioner = "amg";
    options.solvers.solver.near_null_space = std::move(near_null_space);
    const auto result = solve_in_time(1e-4 * inner(dt(u), v) * dx + stiffness(), {u}, options);
    EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
    return result.steps.back().iterations;
  }
};

TEST(NearNullSpace, OfTangentsAndStepsHoldsRotations) {
  const Beam beam;
  EXPECT_LT(1.5 * beam.newton_iterations({}), beam.newton_iterations(beam.constants()));
  EXPECT_LT(1.5 * beam.step_iterations({}), beam.step_iterations(beam.constants()));
}

/// Parameters reach algebraic multigrid of the whole operator and of a block.
TEST(AlgebraicMultigridChoice, TakesParametersOfSmoothers) {
  const FunctionSpace V(make_box({.cells = {24, 24}, .shape = "triangle"}), {.degree = 2, .name = "u"});
  const auto [u, v] = arguments(V);
  const Operator A((inner(grad(u), grad(v)) + u * v) * dx, rafter::test::planned({.threads = 1}));
  Vector b = A.make_vector();
  solvers::VectorOps(A).fill_random(0, b);
  MultigridParameters smoother_of_degree_6;
  smoother_of_degree_6.smoother.degree = 6;
  const auto iterations = [&](const PreconditionerChoice& choice) {
    const auto result = solve(A, b, {.preconditioner = choice});
    EXPECT_TRUE(result.is_converged()) << result.info.message;
    return result.info.iterations;
  };
  const auto usual = iterations("amg"), smoother = iterations(amg(smoother_of_degree_6));
  EXPECT_LT(smoother, usual);
  EXPECT_EQ(iterations(amg({})), usual);
  EXPECT_EQ(iterations(block({{"u", "amg"}})), usual);
  EXPECT_EQ(iterations(block({{"u", amg(smoother_of_degree_6)}})), smoother);
}

/// Blocks of another form than the operator's may have known fields that the operator does not have.
TEST(Blocks, OfAnotherFormTakeTheirOwnKnownFields) {
  const FunctionSpace V(make_box({.cells = {6, 6}, .shape = "triangle"}), {.degree = 2, .name = "u"});
  const auto [u, v] = arguments(V);
  const auto k = field(V.ptr(), "k");
  const auto own = rafter::test::planned({.threads = 1});
  const Operator A((inner(grad(u), grad(v)) + u * v) * dx, own);
  Vector values = A.make_vector();
  for (std::size_t i = 0; i < values.size(); ++i) values.host_write()[i] = 1 + 0.1 * static_cast<double>(i % 7);
  std::vector<NamedValues> data;
  data.emplace_back("k", std::move(values));
  Operator expected((k * inner(grad(u), grad(v)) + u * v) * dx, own);
  expected.set("k", *data.front().values);
  const auto choice = block({{"u", "jacobi"}}, (k * inner(grad(u), grad(v)) + u * v) * dx, std::move(data));
  const auto made = make_blocks(A, choice);
  Vector x = A.make_vector(), y = A.make_vector(), z = A.make_vector();
  for (std::size_t i = 0; i < x.size(); ++i) x.host_write()[i] = static_cast<double>(i % 5);
  expected.apply(x, y);
  made.front().A->apply(x, z);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(z.host_read()[i], y.host_read()[i], 1e-12);
}

} // namespace
