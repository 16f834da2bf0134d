// SPDX-License-Identifier: BSD-3-Clause
// Levels of multigrid follow the data of their operator: known fields, states of tangents, steps in time.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/rafter.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

rafter::MultigridOptions levels_of(const Generations& meshes,
                                   schedule::Precision precision = schedule::Precision::double_precision) {
  rafter::MultigridOptions result{.meshes = meshes, .precision = precision};
  result.coarsening.enough_unknowns = 20;
  return result;
}

Generations squares(int times, const std::string& shape = "quadrilateral") {
  return refined_generations(make_box({.cells = {2, 2}, .shape = shape}), times);
}

/// A diffusion whose conductivity is a known field w times a parameter.
struct Diffusion {
  explicit Diffusion(const Generations& meshes, int data_degree = 2, const std::string& law = "",
                     schedule::Precision precision = schedule::Precision::double_precision)
      : V(meshes, {.degree = 4}), W(V, {.degree = data_degree, .name = "w"}) {
    const auto [u, v] = arguments(V);
    const auto w = field(W.ptr(), "w");
    auto options = planned({.threads = 1});
    options.dirichlet = {V.fixed({1, 2, 3, 4}, {0.0})};
    A = std::make_unique<Operator>(parameter("k") * (law == "ln" ? 1 + ln(1 + w) : w) * inner(grad(u), grad(v)) * dx,
                                   options);
    hierarchy = make_hierarchy(*A, levels_of(meshes, precision));
  }
  template <class Function> Vector data(const Function& f) const {
    Vector values(A->device(), static_cast<std::size_t>(W->num_local()));
    space::interpolate(
        *W, [&](std::span<const double> x, std::span<double> to) { to[0] = f(x); }, values.host_overwrite());
    return values;
  }
  FunctionSpace V, W;
  std::unique_ptr<Operator> A;
  std::shared_ptr<const solvers::MultigridHierarchy> hierarchy;
};

TEST(LevelData, IsThatOfTheOperatorOnEveryLevel) {
  const auto meshes = squares(2, "triangle");
  Diffusion problem(meshes);
  problem.A->set("k", 3.0);
  problem.A->set("w", problem.data([](auto x) { return 1 + x[0] + 2 * x[1]; }));
  const auto& levels = problem.hierarchy->coarser;
  ASSERT_EQ(levels.size(), 4u); // degrees 2 and 1 on the finest mesh, 1 on the two before
  for (auto l = levels.size(); l-- > 0;) {
    EXPECT_TRUE(levels[l].follow());
    const auto& level = dynamic_cast<const Operator&>(*levels[l].A);
    const auto [u, v] = form::arguments(std::shared_ptr<const form::FieldSpace>(level.system().spaces[0]));
    const auto x = spatial_coordinate(2);
    auto options = planned({.threads = 1});
    options.dirichlet = {op::make_condition(level.system().spaces[0], {1, 2, 3, 4}, Expr(0.0))};
    const Operator expected(3 * (1 + x[0] + 2 * x[1]) * inner(grad(u), grad(v)) * dx, options);
    const Vector r = random_vector(expected, 1);
    const auto values = values_of(applied(expected, r));
    EXPECT_LE(distance(values_of(applied(level, r)), values), 1e-12 * largest(values)) << levels[l].name;
  }
  for (auto l = levels.size(); l-- > 0;) EXPECT_FALSE(levels[l].follow()) << "nothing has changed";
  problem.A->set("k", 1.0);
  for (auto l = levels.size(); l-- > 0;) EXPECT_TRUE(levels[l].follow());
}

TEST(LevelData, StaysAsItWasWhereALawHasNoValue) {
  // The field is below -1 at the vertices, which are all that degree 1 knows of it, but not at quadrature points.
  Diffusion problem(squares(1), 2, "ln");
  problem.A->set("k", 1.0);
  problem.A->set("w", problem.data([](auto) { return 0.5; }));
  const auto M =
      solvers::make_preconditioner(*problem.A, {.preconditioner = "multigrid", .hierarchy = problem.hierarchy});
  const auto is_at_vertex = [](double x) { return std::abs(4 * x - std::round(4 * x)) < 1e-12; };
  problem.A->set("w", problem.data([&](auto x) { return is_at_vertex(x[0]) && is_at_vertex(x[1]) ? -1.01 : 1.0; }));
  EXPECT_TRUE(M->refresh());
  const Vector r = random_vector(*problem.A, 1);
  Vector z = problem.A->make_vector();
  M->apply(r, z);
  for (const double value : z.host_read()) ASSERT_TRUE(std::isfinite(value));
  problem.A->set("w", problem.data([](auto) { return -2.0; }));
  EXPECT_THROW(M->refresh(), base::SolverError) << "the finest level has no value, either";
}

/// Expects a preconditioner that was kept to do what one does that is made anew.
void expect_like_new(const solvers::Preconditioner& kept, const Operator& A, const solvers::SolverOptions& options) {
  const auto anew = solvers::make_preconditioner(A, options);
  const Vector r = random_vector(A, 1);
  Vector z = A.make_vector(), expected = A.make_vector();
  kept.apply(r, z);
  anew->apply(r, expected);
  EXPECT_LE(distance(values_of(z), values_of(expected)), 1e-5 * largest(values_of(expected)));
}

TEST(RefreshedMultigrid, IsWhatIsMadeAnew) {
  Diffusion problem(squares(2));
  problem.A->set("k", 1.0);
  problem.A->set("w", problem.data([](auto x) { return 1 + x[0]; }));
  const solvers::SolverOptions options{.preconditioner = "multigrid", .hierarchy = problem.hierarchy};
  const auto kept = solvers::make_preconditioner(*problem.A, options);
  const Vector s = random_vector(*problem.A, 2);
  Vector before = problem.A->make_vector(), after = problem.A->make_vector();
  kept->apply(s, before);
  // Jacobi scaling takes the factor out of the eigenvalues, so that estimates stay. Those that are made anew differ by
  // little, as rows of constrained unknowns have another share in their random vector.
  problem.A->set("k", 1000.0);
  EXPECT_TRUE(kept->refresh());
  expect_like_new(*kept, *problem.A, options);
  problem.A->set("k", 1.0);
  EXPECT_TRUE(kept->refresh());
  kept->apply(s, after);
  EXPECT_EQ(values_of(after), values_of(before));
}

TEST(RefreshedMultigrid, InSinglePrecisionFollowsOnItsOwnLevelToo) {
  Diffusion problem(squares(2), 2, "", schedule::Precision::single_precision);
  problem.A->set("k", 1.0);
  problem.A->set("w", problem.data([](auto x) { return 1 + x[0]; }));
  const solvers::SolverOptions options{.preconditioner = "multigrid", .hierarchy = problem.hierarchy};
  ASSERT_TRUE(problem.hierarchy->finest->is_single());
  const auto kept = solvers::make_preconditioner(*problem.A, options);
  // Jacobi scaling takes both factors out of the eigenvalues, so that estimates stay.
  problem.A->set("k", 1024.0);
  problem.A->set("w", problem.data([](auto x) { return 4 * (1 + x[0]); }));
  EXPECT_TRUE(kept->refresh());
  expect_like_new(*kept, *problem.A, options);
}

TEST(UpdatedChebyshev, EstimatesAnewWhereTheEigenvaluesHaveMoved) {
  const FunctionSpace V(make_box({.cells = {8, 8}, .shape = "triangle"}), {.degree = 2});
  const auto [u, v] = arguments(V);
  const auto gu = grad(u), gv = grad(v);
  auto options = planned({.threads = 1});
  options.dirichlet = {V.fixed({1, 2, 3, 4}, {0.0})};
  Operator A((parameter("k") * gu[0] * gv[0] + parameter("l") * gu[1] * gv[1] + parameter("m") * u * v) * dx, options);
  const auto set = [&A](double k, double l, double m) {
    A.set("k", k);
    A.set("l", l);
    A.set("m", m);
  };
  set(1, 1, 0);
  solvers::Chebyshev smoother(A, {.degree = 2, .eigenvalue_ratio = 8});
  const double before = smoother.upper();
  set(50, 50, 0);
  EXPECT_FALSE(smoother.update());
  EXPECT_EQ(smoother.upper(), before);
  set(1, 1, 1e6); // a mass matrix, whose diagonal is closer to it
  EXPECT_TRUE(smoother.update());
  EXPECT_EQ(smoother.upper(), solvers::Chebyshev(A, {.degree = 2, .eigenvalue_ratio = 8}).upper());
  EXPECT_NE(smoother.upper(), before);
  solvers::Chebyshev bounded(A, {.degree = 2, .upper = 3});
  set(1, 1, 0);
  EXPECT_FALSE(bounded.update());
  EXPECT_EQ(bounded.upper(), 3);
}

TEST(NewtonWithMultigrid, TakesIterationsThatDoNotGrowWithTheMesh) {
  std::vector<int> most;
  for (const int times : {1, 2, 3}) {
    const auto meshes = squares(times);
    const FunctionSpace V(meshes, {.degree = 2, .components = 2});
    const auto u = field(V.ptr(), "u");
    const auto v = arguments(V).second;
    const auto D = identity(2) + grad(u), T = transpose(inv(D));
    const auto F = inner(D - T + 2 * ln(det(D)) * T, grad(v)) * dx;
    NonlinearOptions options;
    options.discretisation = planned({.threads = 1});
    options.discretisation.dirichlet = {V.fixed({3}, {0.0, 0.0}), V.fixed({4}, {0.1, -0.2})};
    options.newton.rtol = 1e-10;
    options.newton.solver.method = "direct";
    const auto expected = solve_nonlinear(F, {u}, options);
    options.newton.solver.method = "cg";
    options.multigrid = levels_of(meshes);
    const auto found = solve_nonlinear(F, {u}, options);
    options.multigrid->precision = Precision::single_precision;
    const auto in_floats = solve_nonlinear(F, {u}, options);
    ASSERT_TRUE(expected.is_converged() && found.is_converged()) << found.info.message;
    ASSERT_TRUE(in_floats.is_converged()) << in_floats.info.message;
    EXPECT_LE(distance(values_of(found.solution), values_of(expected.solution)), 1e-7);
    EXPECT_LE(distance(values_of(in_floats.solution), values_of(expected.solution)), 1e-7);
    most.push_back(0);
    for (const auto& step : found.info.steps) most.back() = std::max(most.back(), step.linear_iterations);
    ASSERT_EQ(in_floats.info.steps.size(), found.info.steps.size());
    for (std::size_t i = 0; i < found.info.steps.size(); ++i)
      EXPECT_NEAR(in_floats.info.steps[i].linear_iterations, found.info.steps[i].linear_iterations, 1);
  }
  EXPECT_LE(most[1], 15);
  EXPECT_LE(most[2], most[1] + 2);
}

TEST(RefreshedMultigrid, FollowsInTheSymmetricPartToo) {
  const auto meshes = squares(3, "triangle");
  const FunctionSpace V(meshes, {.degree = 2}), W(V, {.degree = 2, .name = "w"});
  const auto [u, v] = arguments(V);
  auto options = planned({.threads = 1});
  options.dirichlet = {V.fixed({1, 2, 3, 4}, {0.0})};
  Operator A(parameter("k") * (field(W.ptr(), "w") * inner(grad(u), grad(v)) + 3 * grad(u)[0] * v) * dx, options);
  const auto set = [&](double k, double w) {
    A.set("k", k);
    Vector values(A.device(), static_cast<std::size_t>(W->num_local()));
    std::ranges::fill(values.host_overwrite(), w);
    A.set("w", values);
  };
  set(1, 1);
  const auto hierarchy = make_hierarchy(A, levels_of(meshes));
  ASSERT_NE(hierarchy->finest, nullptr);
  const auto kept = solvers::make_preconditioner(A, {.preconditioner = "multigrid", .hierarchy = hierarchy});
  const Vector r = random_vector(A, 1);
  Vector z = A.make_vector(), expected = A.make_vector();
  set(4, 2);
  EXPECT_TRUE(kept->refresh());
  kept->apply(r, z);
  const auto anew = solvers::make_preconditioner(
      A, {.preconditioner = "multigrid", .hierarchy = make_hierarchy(A, levels_of(meshes))});
  anew->apply(r, expected);
  EXPECT_LE(distance(values_of(z), values_of(expected)), 1e-5 * largest(values_of(expected)));
}

TEST(RefreshedBlocks, AreThoseThatAreMadeAnew) {
  const auto meshes = squares(3, "triangle");
  const FunctionSpace V(meshes, {.degree = 2, .name = "u"}), W(V, {.degree = 1, .name = "w"});
  const auto [u, v] = arguments(V);
  const auto [w, z] = arguments(W);
  auto options = planned({.threads = 1});
  options.dirichlet = {V.fixed({1, 2, 3, 4}, {0.0})};
  Operator A((parameter("k") * (inner(grad(u), grad(v)) + w * z) + w * v + u * z) * dx,
             op::make_system({V.ptr(), W.ptr()}), options);
  A.set("k", 1.0);
  using enum schedule::Precision;
  for (const auto& [of_w, precision] : {std::pair{"jacobi", double_precision},
                                        {"none", double_precision},
                                        {"chebyshev", double_precision},
                                        {"jacobi", single_precision}}) {
    const auto choice = rafter::block({{"u", rafter::multigrid(levels_of(meshes, precision))}, {"w", of_w}});
    const bool is_single = precision == single_precision;
    EXPECT_EQ(dynamic_cast<const Operator&>(*make_blocks(A, choice).front().A).is_single(), is_single);
    A.set("k", 1.0);
    const auto kept = solvers::make_preconditioner(A, {.preconditioner = "block", .blocks = make_blocks(A, choice)});
    A.set("k", 7.0);
    EXPECT_TRUE(kept->refresh());
    const auto anew = solvers::make_preconditioner(A, {.preconditioner = "block", .blocks = make_blocks(A, choice)});
    const Vector r = random_vector(A, 1);
    Vector x = A.make_vector(), expected = A.make_vector();
    kept->apply(r, x);
    anew->apply(r, expected);
    EXPECT_LE(distance(values_of(x), values_of(expected)), 1e-5 * largest(values_of(expected))) << of_w;
  }
}

TEST(StepsInTimeWithMultigrid, HaveTheSymmetricPartsOfOtherForms) {
  const auto meshes = squares(3, "triangle");
  const FunctionSpace V(meshes, {.degree = 2});
  const auto u = field(V.ptr(), "u"), t = parameter("t");
  const auto v = arguments(V).second;
  const auto x = spatial_coordinate(2);
  const auto wind = (1 + t) * (x[1] * grad(u)[0] - x[0] * grad(u)[1]);
  const auto F = (dt(u) * v + 0.5 * inner(grad(u), grad(v)) + wind * v - x[1] * v) * dx;
  TimeOptions options{.end = 0.3, .step = 0.1, .theta = 0.5};
  options.solvers.solver.control.rtol = 1e-10;
  options.discretisation = planned({.threads = 1});
  options.discretisation.dirichlet = {V.fixed({1, 2, 3, 4}, cos(t) * x[0])};
  options.solvers.solver.method = "direct";
  const auto expected = solve_in_time(F, {u}, options);
  options.solvers.solver.method = "gmres";
  options.multigrid = levels_of(meshes);
  const auto found = solve_in_time(F, {u}, options);
  ASSERT_TRUE(expected.is_converged() && found.is_converged()) << found.steps.back().message;
  EXPECT_LE(distance(values_of(found.solution), values_of(expected.solution)), 1e-7);
  for (const auto& step : found.steps) EXPECT_LE(step.iterations, 20);
}

TEST(StepsInTimeWithMultigrid, HaveTheStatesOfDirectSolves) {
  const auto meshes = squares(2, "triangle");
  for (const bool is_nonlinear : {false, true}) {
    const FunctionSpace V(meshes, {.degree = 3});
    const auto u = field(V.ptr(), "u"), t = parameter("t");
    const auto v = arguments(V).second;
    const auto x = spatial_coordinate(2);
    const auto k = 1 + sin(t) * x[0] + (is_nonlinear ? inner(grad(u), grad(u)) : Expr(0.0));
    const auto F = (dt(u) * v + k * inner(grad(u), grad(v)) - exp(-t) * x[1] * v) * dx;
    TimeOptions options{.end = 0.35, .step = 0.1, .theta = 0.5}; // the last step is shorter
    options.solvers.solver.control.rtol = options.solvers.newton.rtol = 1e-11;
    options.discretisation = planned({.threads = 1});
    options.discretisation.dirichlet = {V.fixed({1, 2, 3, 4}, cos(t) * x[0])};
    options.solvers.solver.method = "direct";
    const auto expected = solve_in_time(F, {u}, options);
    options.solvers.solver.method = "cg";
    for (const auto precision : {schedule::Precision::double_precision, schedule::Precision::single_precision}) {
      options.multigrid = levels_of(meshes, precision);
      const auto found = solve_in_time(F, {u}, options);
      ASSERT_TRUE(expected.is_converged() && found.is_converged()) << found.steps.back().message;
      EXPECT_LE(distance(values_of(found.solution), values_of(expected.solution)), 1e-7);
      for (const auto& step : found.steps) EXPECT_LE(step.iterations, 20 * std::max(step.newton_steps, 1));
    }
  }
}

} // namespace
} // namespace rafter::test
