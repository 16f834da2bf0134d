// SPDX-License-Identifier: BSD-3-Clause
// Newton's method runs with the kernels of a residual form, also where the form has no value.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/rafter.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <tests/support/planner.hpp>

namespace {

using namespace rafter;

/// A block of a neo-Hookean solid is clamped below and displaced by `lift` above.
struct Block {
  explicit Block(double lift, int dim = 2, int cells = 2)
      : V(make_box({.cells = std::vector<int>(static_cast<std::size_t>(dim), cells),
                    .shape = dim == 2 ? "quadrilateral" : "hexahedron"}),
          {.degree = 2, .components = dim}) {
    u = field(V.ptr(), "u");
    const auto v = arguments(V).second;
    const auto D = identity(dim) + grad(u), T = transpose(inv(D));
    F = inner(D - T + 2 * ln(det(D)) * T, grad(v)) * dx;
    energy = (0.5 * inner(D, D) - ln(det(D)) + ln(det(D)) * ln(det(D))) * dx;
    std::vector<double> top(static_cast<std::size_t>(dim), 0.0);
    top.back() = lift;
    options.discretisation = rafter::test::planned({.threads = 1});
    options.discretisation.dirichlet = {V.fixed({2 * dim - 1}, std::vector<double>(top.size(), 0.0)),
                                        V.fixed({2 * dim}, top)};
  }
  double stored(const Vector& state) const {
    return Functional(*energy, op::make_system({V.ptr()}), options.discretisation)(state);
  }
  /// The equations have their tangent; kernels with these options are compiled here.
  struct Equations {
    std::shared_ptr<Operator> tangent;
    solvers::ResidualProblem problem;
  };
  Equations equations(OperatorOptions with) const {
    const auto system = op::make_system({V.ptr()});
    with.shared_device = op::device_of(with);
    const auto built = op::build(F, 1, system, with);
    op::compile(std::vector{built});
    const auto tangent = std::make_shared<Operator>(derivative(F, std::vector{u}), system, with);
    return {tangent, solvers::ResidualProblem(built, tangent, {"u"})};
  }
  FunctionSpace V;
  Expr u{0.0};
  Form F;
  std::optional<Form> energy;
  NonlinearOptions options;
};

TEST(NewtonOfForms, CompressionBeyondTheFirstElementRecovers) {
  // The displacement is more than half of the height. If it were set at the nodes at once, the upper layer of cells
  // would be inverted, and full steps lead to states where ln J has no value.
  Block block(-0.6, 3, 3);
  const auto result = solve_nonlinear(block.F, {block.u}, block.options);
  ASSERT_TRUE(result.is_converged()) << result.info.message;
  EXPECT_LT(result.info.steps.back().residual, 1e-8);
  EXPECT_TRUE(std::ranges::any_of(result.info.steps, [](const auto& step) { return step.length < 1; }));
  EXPECT_TRUE(std::isfinite(block.stored(result.solution)));
}

TEST(NewtonOfForms, CompressionBeyondNothingFailsWithTheCell) {
  Block block(-1.2, 3); // the top would be below the bottom
  const auto result = solve_nonlinear(block.F, {block.u}, block.options);
  EXPECT_EQ(result.info.status, solvers::Status::failed);
  EXPECT_EQ(result.info.failure, solvers::Failure::non_finite) << result.info.message;
  EXPECT_NE(result.info.message.find("no finite value of 'u' in hexahedron"), std::string::npos) << result.info.message;
  EXPECT_TRUE(std::isfinite(block.stored(result.solution))); // the last state that was accepted
}

TEST(NewtonOfForms, LoadStepsAndEnergyGiveTheSameSolution) {
  Block block(-0.3);
  const auto at_once = solve_nonlinear(block.F, {block.u}, block.options);
  block.options.newton.load_steps = 3;
  block.options.energy = block.energy;
  const auto in_steps = solve_nonlinear(block.F, {block.u}, block.options);
  ASSERT_TRUE(at_once.is_converged()) << at_once.info.message;
  ASSERT_TRUE(in_steps.is_converged()) << in_steps.info.message;
  EXPECT_NEAR(block.stored(at_once.solution), block.stored(in_steps.solution), 1e-9);
  for (std::size_t i = 0; i < at_once.solution.size(); ++i)
    EXPECT_NEAR(at_once.solution.host_read()[i], in_steps.solution.host_read()[i], 1e-7);
}

TEST(NewtonOfForms, AStartWithAnInvertedCellIsRefusedWithTheCell) {
  Block block(0.0);
  Vector start(op::device_of(block.options.discretisation), static_cast<std::size_t>(block.V->num_local()));
  space::interpolate(
      *block.V,
      [](std::span<const double> x, std::span<double> value) {
        std::ranges::fill(value, 0.0);
        value[1] = x[1] > 0.5 ? -3 * (x[1] - 0.5) : 0.0; // inverts the upper layer
      },
      start.host_overwrite());
  block.options.initial = std::move(start);
  try {
    (void)solve_nonlinear(block.F, {block.u}, block.options);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("no finite value of 'u' in quadrilateral"), std::string::npos) << text;
    EXPECT_NE(text.find("0.75)"), std::string::npos) << text; // the middle of the cell is in the upper layer
  }
}

TEST(NewtonOfForms, TrialStatesLeaveTheTangentAsItIs) {
  Block block(0.0);
  auto options = block.options.discretisation;
  options.plan = "factors=store-law"; // what depends on the state is computed by a set-up
  auto [tangent, problem] = block.equations(options);
  const solvers::VectorOps ops(tangent->device());
  Vector u = tangent->make_vector(), r = tangent->make_vector(), x = tangent->make_vector(),
         before = tangent->make_vector(), after = tangent->make_vector();
  ops.fill(0, u);
  ops.fill_random(3, x);
  problem.linearise(u);
  tangent->apply(x, before);
  const int num_setups = tangent->num_setups();
  ASSERT_GT(num_setups, 0);
  ops.fill_random(1, u);
  ops.scale(1e-2, u);
  problem.residual(u, r);
  tangent->apply(x, after);
  EXPECT_EQ(tangent->num_setups(), num_setups);
  EXPECT_TRUE(std::ranges::equal(before.host_read(), after.host_read()));
  problem.linearise(u);
  tangent->apply(x, after);
  EXPECT_EQ(tangent->num_setups(), 2 * num_setups);
  EXPECT_FALSE(std::ranges::equal(before.host_read(), after.host_read()));
}

TEST(NewtonOfForms, TheTangentIsSetUpOnceForEachStateThatIsAccepted) {
  Block block(-0.3);
  auto options = block.options.discretisation;
  options.plan = "factors=store-law";
  auto [tangent, problem] = block.equations(options);
  Vector u = tangent->make_vector();
  solvers::VectorOps(tangent->device()).fill(0, u);
  problem.linearise(u);
  const int num_setups = tangent->num_setups();
  ASSERT_GT(num_setups, 0);
  const auto result = solvers::newton(problem, u);
  ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
  EXPECT_GT(result.iterations, 2);
  EXPECT_EQ(tangent->num_setups(), num_setups * (1 + result.iterations));
}

TEST(NewtonOfForms, TheTangentIsTheDerivativeOfTheResidual) {
  Block block(0.0);
  auto options = block.options.discretisation;
  options.dirichlet.clear();
  auto [tangent, problem] = block.equations(options);
  const solvers::VectorOps ops(tangent->device());
  Vector u = tangent->make_vector(), du = tangent->make_vector(), forth = tangent->make_vector(),
         back = tangent->make_vector(), y = tangent->make_vector();
  ops.fill_random(1, u);
  ops.scale(2e-2, u);
  ops.fill_random(2, du);
  problem.linearise(u);
  problem.apply_tangent_free(du, y);
  constexpr double h = 1e-5;
  ops.axpy(h, du, u);
  problem.residual(u, forth);
  ops.axpy(-2 * h, du, u);
  problem.residual(u, back);
  ops.axpy(-1, back, forth);
  ops.scale(0.5 / h, forth);
  const double size = ops.norm(y);
  ops.axpy(-1, y, forth);
  EXPECT_LT(ops.norm(forth), 1e-6 * size);
}

TEST(NewtonOfForms, OtherFieldsOnTheSpaceOfTheUnknownKeepTheirValues) {
  const FunctionSpace V(make_box({.cells = {3, 3}, .shape = "quadrilateral"}), {.degree = 2});
  const auto u = field(V.ptr(), "u"), w = field(V.ptr(), "w");
  const auto v = arguments(V).second;
  const auto system = op::make_system({V.ptr()});
  auto options = rafter::test::planned({.threads = 1});
  options.shared_device = op::device_of(options);
  const Form F = (u * u * u + u - w) * v * dx;
  const auto built = op::build(F, 1, system, options);
  op::compile(std::vector{built});
  const auto tangent = std::make_shared<Operator>(derivative(F, std::vector{u}), system, options);
  solvers::ResidualProblem problem(built, tangent, {"u"});
  Vector state = tangent->make_vector(), other = tangent->make_vector();
  std::ranges::fill(state.host_overwrite(), 0.0);
  std::ranges::fill(other.host_overwrite(), 10.0);
  problem.set("w", other);
  EXPECT_THROW(problem.set("u", other), InputError);
  EXPECT_THROW(problem.set("z", other), InputError);
  solvers::NewtonOptions newton{.rtol = 1e-12};
  newton.solver.control.rtol = 1e-13;
  const auto result = solvers::newton(problem, state, newton);
  ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
  for (const double value : state.host_read()) EXPECT_NEAR(value, 2, 1e-10);
}

TEST(NewtonOfForms, ParametersReachResidualTangentEnergyAndBoundary) {
  const FunctionSpace V(make_box({.cells = {3, 3}, .shape = "quadrilateral"}), {.degree = 2});
  const auto u = field(V.ptr(), "u"), k = parameter("k"), g = parameter("g");
  const Form energy = (0.5 * inner(grad(u), grad(u)) + 0.25 * k * u * u * u * u - 4 * k * u) * dx;
  NonlinearOptions options{.newton = {.rtol = 1e-12},
                           .energy = energy,
                           .parameters = {{"k", 2}, {"g", 4}},
                           .discretisation = rafter::test::planned({.threads = 1})};
  options.newton.solver.control.rtol = 1e-13;
  // A boundary with the root of 4 gives u this value everywhere.
  options.discretisation.dirichlet = {V.fixed({1, 2, 3, 4}, pow(g, 1.0 / 3))};
  const auto result = solve_nonlinear(derivative(energy, u), {u}, options);
  ASSERT_TRUE(result.is_converged()) << result.info.message;
  for (const double value : result.solution.host_read()) EXPECT_NEAR(value, std::cbrt(4), 1e-10);
  options.parameters = {{"k", 2}, {"g", 4}, {"unknown", 1}};
  EXPECT_THROW((void)solve_nonlinear(derivative(energy, u), {u}, options), InputError);
  options.parameters.pop_back();
  options.initial.emplace(op::device_of(options.discretisation), 3U);
  EXPECT_THROW((void)solve_nonlinear(derivative(energy, u), {u}, options), InputError);
}

TEST(NewtonOfForms, FieldsOfAnEarlierResultAreDataAndStart) {
  const FunctionSpace V(make_box({.cells = {3, 3}, .shape = "quadrilateral"}), {.degree = 3, .name = "u"});
  const auto u = field(V.ptr(), "u");
  const auto trial = arguments(V).first, v = arguments(V).second;
  NonlinearOptions options{.newton = {.rtol = 1e-12}, .discretisation = rafter::test::planned({.threads = 1})};
  options.newton.solver.control.rtol = 1e-13;
  const auto x = spatial_coordinate(2);
  const auto first = solve_nonlinear((u * u * u + u - sin(x(0))) * v * dx, {u}, options);
  ASSERT_TRUE(first.is_converged()) << first.info.message;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("rafter_newton_{}.vtkhdf", ::getpid());
  write_vtkhdf(path.string(), Operator(trial * v * dx, options.discretisation), first.solution);

  const FunctionSpace W(V, {.degree = 3, .name = "w"});
  const auto w = field(W.ptr(), "w");
  options.data.emplace_back("w", read_vtkhdf(path.string(), "u", W, options.discretisation));
  options.initial = read_vtkhdf(path.string(), "u", V, options.discretisation);
  const auto again = solve_nonlinear((u * u * u + u - w * w * w - w) * v * dx, {u}, options);
  std::filesystem::remove(path);
  ASSERT_TRUE(again.is_converged()) << again.info.message;
  EXPECT_LE(again.info.iterations, 1);
  for (std::size_t i = 0; i < again.solution.size(); ++i)
    EXPECT_NEAR(again.solution.host_read()[i], first.solution.host_read()[i], 1e-10);
}

TEST(NewtonOfForms, RefusesUnknownsThatAreNoFieldsOfTheEquations) {
  Block block(0.0);
  EXPECT_THROW((void)solve_nonlinear(block.F, {grad(block.u)}, block.options), InputError);
}

} // namespace
