// SPDX-License-Identifier: BSD-3-Clause
// Errors of the theta scheme fall with its order in the length of a step, for solutions that space and quadrature
// resolve.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>
#include <rafter/rafter.hpp>
#include <tests/support/planner.hpp>

namespace {

using namespace rafter;

/// A problem is given by texts: fields u, ... with exact solutions of x and t.
struct Problem {
  struct Field {
    std::string name;
    int components = 0, degree = 1;
    std::string exact;
    std::vector<std::int32_t> boundary{}; ///< tags of the boundary where it takes the exact values
  };
  BoxOptions box;
  std::vector<Field> fields;
  std::vector<std::pair<std::string, std::string>> definitions;
  std::string F;
  std::string method = "direct";
};

struct Run {
  std::vector<double> errors;   ///< relative L2 errors at the last time, shape (field)
  std::vector<double> values;   ///< values of the functional at all times
  double interpolant_value = 0; ///< value for the interpolant of the exact solution at the first time
  std::vector<solvers::TimeStepResult> steps;
};

Run run(const Problem& problem, double end, int num_steps, double theta, const std::string& functional = "") {
  const int dim = static_cast<int>(problem.box.cells.size());
  const auto mesh = make_box(problem.box);
  std::vector<FunctionSpace> spaces;
  for (const auto& f : problem.fields) {
    const space::SpaceOptions options{.degree = f.degree, .components = f.components, .name = f.name};
    if (spaces.empty())
      spaces.emplace_back(mesh, options);
    else
      spaces.emplace_back(spaces.front(), options);
  }
  std::vector<std::shared_ptr<const form::FieldSpace>> on;
  for (const auto& space : spaces) on.push_back(space);
  form::Scope scope(dim);
  for (const auto& space : on) scope.add_field(space);
  scope.add_test_functions(on);
  const auto t = parameter("t");
  scope.add("t", t);
  for (const auto& [name, text] : problem.definitions) scope.define(name, text);
  TimeOptions options{.end = end, .step = end / num_steps, .theta = theta};
  options.solvers.solver.method = problem.method;
  options.solvers.solver.control.rtol = 1e-13;
  options.solvers.newton.rtol = 1e-10;
  options.discretisation = test::planned({.threads = 1});
  options.discretisation.shared_device = op::device_of(options.discretisation);
  std::vector<Expr> unknowns;
  std::vector<std::shared_ptr<const space::FunctionSpace>> of_system;
  for (const auto& space : spaces) of_system.push_back(space.ptr());
  const auto system = op::make_system(of_system);
  Vector start(options.discretisation.shared_device, static_cast<std::size_t>(system.size()));
  for (std::size_t f = 0; f < spaces.size(); ++f) {
    unknowns.push_back(form::field(on[f], problem.fields[f].name));
    const auto exact = form::parse_expression(problem.fields[f].exact, scope);
    if (!problem.fields[f].boundary.empty())
      options.discretisation.dirichlet.push_back(spaces[f].fixed(problem.fields[f].boundary, exact));
    form::PointEvaluator values(exact);
    values.set("t", std::vector{0.0});
    space::interpolate(
        *spaces[f], [&](std::span<const double> x, std::span<double> at) { values(x, at); },
        start.host_write().subspan(static_cast<std::size_t>(system.offset(f)),
                                   static_cast<std::size_t>(spaces[f]->num_local())));
  }
  options.initial = std::move(start);
  Run result;
  std::optional<Functional> quantity;
  if (!functional.empty()) {
    quantity.emplace(form::parse_form(functional, scope), system, options.discretisation);
    result.interpolant_value = (*quantity)(*options.initial);
  }
  options.monitor = [&](double, const Vector& state) {
    if (quantity) result.values.push_back((*quantity)(state));
  };
  const auto solved = solve_in_time(form::parse_form(problem.F, scope), unknowns, options);
  EXPECT_TRUE(solved.is_converged()) << solved.steps.back().message;
  EXPECT_EQ(solved.time, end);
  result.steps = solved.steps;
  for (const auto& f : problem.fields) {
    const auto norm = [&](const std::string& text) {
      Functional square(form::parse_form("inner(" + text + ", " + text + ")*dx(degree=14)", scope), system,
                        options.discretisation);
      square.set("t", end);
      return std::sqrt(square(solved.solution));
    };
    result.errors.push_back(norm("(" + f.name + " - (" + f.exact + "))") /
                            norm("(" + f.exact + " + 0*" + f.name + ")"));
  }
  return result;
}

/// Checks that steps of half the length divide the errors of the first `count` fields by two to the power of the order.
void expect_order(const Problem& problem, double end, int num_steps, double theta, double order, std::size_t count) {
  const auto coarse = run(problem, end, num_steps, theta), fine = run(problem, end, 2 * num_steps, theta);
  for (std::size_t f = 0; f < count; ++f) {
    const double found = std::log2(coarse.errors[f] / fine.errors[f]);
    const auto text = fmt::format("{}, theta {}: {:.3e} -> {:.3e}, order {:.3f}", problem.fields[f].name, theta,
                                  coarse.errors[f], fine.errors[f], found);
    ::testing::Test::RecordProperty(fmt::format("{}_theta_{}", problem.fields[f].name, theta), text);
    EXPECT_NEAR(found, order, 0.1) << text;
  }
}

/// The conductivity, the source and the boundary values depend on time.
Problem heat() {
  return {.box = {.cells = {3, 3}, .shape = "quadrilateral"},
          .fields = {{"u", 0, 6, "exact", {1, 2, 3, 4}}},
          .definitions = {{"exact", "exp(-t)*sin(2*x[0] + 3*t)*cos(x[1])"},
                          {"rate", "exp(-t)*(3*cos(2*x[0] + 3*t) - sin(2*x[0] + 3*t))*cos(x[1])"},
                          {"k", "1 + 0.5*sin(3*t)*x[0]"}},
          .F = "(dt(u)*v + k*inner(grad(u), grad(v)) - (rate - div(k*grad(exact)))*v)*dx"};
}

TEST(ThetaScheme, HeatHasOrdersOneAndTwo) {
  expect_order(heat(), 1, 16, 1, 1, 1);
  expect_order(heat(), 1, 16, 0.5, 2, 1);
}

TEST(ThetaScheme, DensitiesThatChangeInTimeAndStateKeepTheOrder) {
  auto problem = heat();
  problem.definitions.emplace_back("density(w)", "1 + t + 0.3*w*w");
  problem.F = "(density(u)*dt(u)*v + k*inner(grad(u), grad(v)) - (density(exact)*rate - div(k*grad(exact)))*v)*dx";
  expect_order(problem, 1, 16, 1, 1, 1);
  expect_order(problem, 1, 16, 0.5, 2, 1);
  problem.F = "(dt(u + t**2*x[0]*0 + 0.1*u**3)*v + k*inner(grad(u), grad(v)) - "
              "((1 + 0.3*exact**2)*rate - div(k*grad(exact)))*v)*dx";
  EXPECT_THROW(run(problem, 1, 2, 1), InputError); // dt() of the time itself is not accepted
  problem.F = "(dt(u + 0.1*u**3)*v + k*inner(grad(u), grad(v)) - ((1 + 0.3*exact**2)*rate - div(k*grad(exact)))*v)*dx";
  expect_order(problem, 1, 16, 0.5, 2, 1);
}

/// A standing wave is a system of first order in time that conserves its energy.
Problem wave() {
  return {.box = {.cells = {4, 4}, .shape = "triangle"},
          .fields = {{"u", 0, 6, "sin(pi*x[0])*sin(pi*x[1])*cos(sqrt(2)*pi*t)", {1, 2, 3, 4}},
                     {"w", 0, 6, "-sqrt(2)*pi*sin(pi*x[0])*sin(pi*x[1])*sin(sqrt(2)*pi*t)", {1, 2, 3, 4}}},
          .definitions = {},
          .F = "((dt(u) - w)*v_u + dt(w)*v_w + inner(grad(u), grad(v_w)))*dx"};
}

TEST(ThetaScheme, WaveHasOrderTwo) { expect_order(wave(), 0.8, 16, 0.5, 2, 2); }

TEST(ThetaScheme, CrankNicolsonKeepsTheEnergyOfWaves) {
  const auto kept = run(wave(), 2, 20, 0.5, "0.5*(w*w + inner(grad(u), grad(u)))*dx");
  for (const double energy : kept.values) EXPECT_NEAR(energy, kept.values.front(), 1e-11 * kept.values.front());
  const auto damped = run(wave(), 2, 20, 1, "0.5*(w*w + inner(grad(u), grad(u)))*dx");
  EXPECT_LT(damped.values.back(), 0.5 * damped.values.front());
}

/// The decaying vortices of Taylor and Green are exact solutions of the Navier-Stokes equations. The traction is given
/// on one side, and the elements are those of Taylor and Hood.
Problem vortices() {
  return {.box = {.cells = {4, 4}, .shape = "quadrilateral"},
          .fields = {{"u", 2, 5, "velocity", {1, 3, 4}}, {"p", 0, 4, "pressure", {}}},
          .definitions = {{"nu", "0.05"},
                          {"decay", "exp(-2*pi**2*nu*t)"},
                          {"velocity", "decay*as_vector([-cos(pi*x[0])*sin(pi*x[1]), sin(pi*x[0])*cos(pi*x[1])])"},
                          {"pressure", "-0.25*decay**2*(cos(2*pi*x[0]) + cos(2*pi*x[1]))"},
                          {"traction", "nu*dot(grad(velocity), n) - pressure*n"}},
          .F = "(inner(dt(u) + grad(u)*u, v_u) + nu*inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p)*dx - "
               "inner(traction, v_u)*ds(2)"};
}

TEST(ThetaScheme, NavierStokesHasOrdersOneAndTwo) {
  expect_order(vortices(), 1, 8, 1, 1, 1);
  expect_order(vortices(), 1, 8, 0.5, 2, 1);
}

TEST(ThetaScheme, FirstStatesFulfilTheEquationsWithoutTime) {
  // The interpolant of a divergence-free velocity is not divergence-free, but the state with which the steps begin is.
  auto problem = vortices();
  problem.box.cells = {2, 2};
  problem.fields[0].degree = 2;
  problem.fields[1].degree = 1;
  problem.definitions = {{"nu", "0.05"},
                         {"velocity", "(1 + t)*exp(x[0])*as_vector([2*cos(2*x[1]), -sin(2*x[1])])"},
                         {"pressure", "(1 + t)*x[0]"},
                         {"traction", "0*n"}};
  for (const char* weight : {"(1 - x[0])*(1 - x[1])", "x[0]*(1 - x[1])"}) {
    const std::string divergence = std::string("div(u)*") + weight + "*dx";
    const auto result = run(problem, 0.1, 2, 0.5, divergence);
    EXPECT_GT(std::abs(result.interpolant_value), 1e-4);
    for (const double value : result.values) EXPECT_NEAR(value, 0, 1e-10);
  }
}

TEST(ThetaScheme, AlgebraicFieldsFollowAtOnce) {
  Problem problem{.box = {.cells = {2}, .shape = "interval"},
                  .fields = {{"u", 0, 2, "(1 + x[0])*exp(-2*t)", {}}, {"p", 0, 2, "2*(1 + x[0])*exp(-2*t)", {}}},
                  .definitions = {},
                  .F = "((dt(u) + p)*v_u + (p - 2*u)*v_p)*dx"};
  expect_order(problem, 1, 16, 1, 1, 2);
  // The pressure is taken at the end of each step, so that the scheme is the implicit Euler method for it, whatever
  // theta is.
  const auto implicit = run(problem, 1, 16, 1), mixed = run(problem, 1, 16, 0.5, "p*dx");
  EXPECT_NEAR(implicit.errors[0], mixed.errors[0], 1e-10);
  EXPECT_NEAR(mixed.values.front(), 3, 1e-12); // the first pressure follows from the velocity
}

} // namespace
