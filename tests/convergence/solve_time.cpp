// SPDX-License-Identifier: BSD-3-Clause
// Errors of the theta scheme fall with its order in the length of a step, for solutions that space and quadrature
// resolve.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
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

/// The number of steps need not be whole: the last step is shorter then.
Run run(const Problem& problem, double end, double num_steps, double theta, const std::string& functional = "") {
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
  }
  const auto value = [&](double time, const Vector& state) {
    if (quantity->kernels().data().has_parameter("t")) quantity->set("t", time);
    return (*quantity)(state);
  };
  if (quantity) result.interpolant_value = value(0, *options.initial);
  options.monitor = [&](double time, const Vector& state) {
    if (quantity) result.values.push_back(value(time, state));
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

/// Checks the order by which the errors of the first `count` fields fall from one number of steps to another (twice as
/// many).
void expect_order(const Problem& problem, double end, double num_steps, double theta, double order, std::size_t count,
                  double more_steps = 0) {
  if (more_steps == 0) more_steps = 2 * num_steps;
  const auto coarse = run(problem, end, num_steps, theta), fine = run(problem, end, more_steps, theta);
  for (std::size_t f = 0; f < count; ++f) {
    const double found = std::log(coarse.errors[f] / fine.errors[f]) / std::log(more_steps / num_steps);
    const auto text = fmt::format("{}, theta {}: {:.3e} -> {:.3e}, order {:.3f}", problem.fields[f].name, theta,
                                  coarse.errors[f], fine.errors[f], found);
    ::testing::Test::RecordProperty(fmt::format("{}_theta_{}_steps_{}", problem.fields[f].name, theta, num_steps),
                                    text);
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
  expect_order(problem, 1, 16, 0.5, 2, 2);
  const auto first = run(problem, 1, 16, 0.5, "p*dx"), constraint = run(problem, 1, 16, 0.5, "(p - 2*u)**2*dx");
  EXPECT_NEAR(first.values.front(), 3, 1e-12); // the first pressure follows from the velocity
  for (const double violation : constraint.values) EXPECT_NEAR(violation, 0, 1e-24);
}

/// The heat equation with the flux through a field of its own, which has no derivative in time.
Problem split_heat() {
  return {.box = {.cells = {4}, .shape = "interval"},
          .fields = {{"c", 0, 6, "exact", {1, 2}}, {"w", 0, 6, "exact", {1, 2}}},
          .definitions = {{"exact", "exp(-t)*sin(2*x[0] + 3*t)"},
                          {"rate", "exp(-t)*(3*cos(2*x[0] + 3*t) - sin(2*x[0] + 3*t))"}},
          .F = "(dt(c)*v_c + dot(grad(w), grad(v_c)) + w*v_w - c*v_w - (rate - div(grad(exact)))*v_c)*dx"};
}

TEST(ThetaScheme, FluxesThroughAFieldWithoutDerivativeKeepTheOrder) {
  expect_order(split_heat(), 1, 64, 1, 1, 2);
  expect_order(split_heat(), 1, 64, 0.5, 2, 2);
  expect_order(split_heat(), 1, 64.3, 0.5, 2, 2, 128.3); // the last step is shorter
}

TEST(ThetaScheme, DecayThroughAFieldWithoutDerivativeIsThatOfOneField) {
  // The mean of exp(-pi^2 t) sin(pi x) at t = 0.2 is 2/pi exp(-0.2 pi^2).
  Problem one{.box = {.cells = {4}, .shape = "interval"},
              .fields = {{"c", 0, 6, "exp(-pi**2*t)*sin(pi*x[0])", {1, 2}}},
              .definitions = {},
              .F = "(dt(c)*v + dot(grad(c), grad(v)))*dx"};
  Problem two = one;
  two.fields.push_back({"w", 0, 6, "exp(-pi**2*t)*sin(pi*x[0])", {1, 2}});
  two.F = "(dt(c)*v_c + w.dx(0)*v_c.dx(0) + w*v_w - c*v_w)*dx";
  const double exact = 2 / M_PI * std::exp(-0.2 * M_PI * M_PI);
  const auto error = [&](const Problem& problem, int num_steps, double theta) {
    return std::abs(run(problem, 0.2, num_steps, theta, "c*dx").values.back() / exact - 1);
  };
  EXPECT_NEAR(error(one, 40, 0.5), 4.0e-4, 0.1e-4);
  EXPECT_NEAR(error(two, 40, 1), 4.83e-2, 0.01e-2);
  // The intermediate values of equal steps h make c fulfil 3/2 c_2 - 2 c_1 + 1/2 c_0 = -pi^2 h c_2, whose error is four
  // times that of the trapezoidal rule, and decays with it.
  EXPECT_LT(error(two, 40, 0.5), 4.1 * error(one, 40, 0.5));
  EXPECT_NEAR(std::log2(error(two, 40, 0.5) / error(two, 80, 0.5)), 2, 0.05);
}

TEST(ThetaScheme, RoughStatesDecayThroughAFieldWithoutDerivative) {
  // The highest modes decay by the factor 1 - h lambda/2 over 1 + h lambda/2 in a step with one field, which is near
  // -1.
  Problem one{.box = {.cells = {16}, .shape = "interval"},
              .fields = {{"c", 0, 2, "sin(40*pi*x[0]) + 0*t", {1, 2}}},
              .definitions = {},
              .F = "(dt(c)*v + dot(grad(c), grad(v)))*dx"};
  Problem two = one;
  two.fields.push_back({"w", 0, 2, "sin(40*pi*x[0]) + 0*t", {1, 2}});
  two.F = "(dt(c)*v_c + w.dx(0)*v_c.dx(0) + w*v_w - c*v_w)*dx";
  const auto ringing = run(one, 1, 10, 0.5, "c*c*dx"), damped = run(two, 1, 10, 0.5, "c*c*dx");
  EXPECT_GT(ringing.values.back(), 0.5 * ringing.values.front());
  EXPECT_LT(damped.values.back(), 1e-4 * damped.values.front());
}

/// The equation of Cahn and Hilliard with sources: the chemical potential has no derivative in time.
Problem cahn_hilliard() {
  return {.box = {.cells = {4}, .shape = "interval"},
          .fields = {{"c", 0, 6, "exact", {}}, {"w", 0, 6, "potential", {}}},
          .definitions = {{"exact", "0.2 + 0.5*cos(2*t)*cos(pi*x[0])"},
                          {"rate", "-sin(2*t)*cos(pi*x[0])"},
                          {"potential", "exact**3 - exact - 0.1*div(grad(exact))"}},
          .F = "(dt(c)*v_c + inner(grad(w), grad(v_c)) - (rate - div(grad(potential)))*v_c + w*v_w - (c**3 - c)*v_w - "
               "0.1*inner(grad(c), grad(v_w)))*dx"};
}

TEST(ThetaScheme, CahnHilliardHasOrderTwo) { expect_order(cahn_hilliard(), 1, 128, 0.5, 2, 2); }

/// Biot's equations of a porous solid. Without storage the derivative in time is that of the displacement alone, in the
/// equation of the test function of the pressure, and the equation of the displacement has none.
Problem biot(const std::string& storage) {
  return {.box = {.cells = {2, 2}, .shape = "quadrilateral"},
          .fields = {{"u", 2, 3, "displacement", {1, 3}}, {"p", 0, 2, "pressure", {2}}},
          .definitions = {{"displacement", "as_vector([sin(2*t)*x[0]*x[1]**2, (1 + t)*exp(-t)*x[0]*(2 - x[1]**2)])"},
                          {"rate", "as_vector([2*cos(2*t)*x[0]*x[1]**2, -t*exp(-t)*x[0]*(2 - x[1]**2)])"},
                          {"pressure", "cos(3*t)*(1 + x[0]**2 + x[1])"},
                          {"pressure_rate", "-3*sin(3*t)*(1 + x[0]**2 + x[1])"},
                          {"stress(w, q)", "2*sym(grad(w)) + (div(w) - q)*as_matrix([[1, 0], [0, 1]])"},
                          {"force", "-div(stress(displacement, pressure))"},
                          {"source", storage + "*pressure_rate + div(rate) - 0.5*div(grad(pressure))"}},
          .F = "(inner(stress(u, p), grad(v_u)) - inner(force, v_u) + dt(" + storage +
               "*p + div(u))*v_p + 0.5*inner(grad(p), grad(v_p)) - source*v_p)*dx - "
               "inner(stress(displacement, pressure)*n, v_u)*ds((2, 4)) - "
               "0.5*dot(grad(pressure), n)*v_p*ds((1, 3, 4))"};
}

TEST(ThetaScheme, BiotWithStorageHasOrderTwo) { expect_order(biot("0.3"), 1, 16, 0.5, 2, 2); }

TEST(ThetaScheme, BiotWithoutStorageHasOrderTwo) {
  expect_order(biot("0"), 0.5, 32, 0.5, 2, 2);
  expect_order(biot("0"), 0.5, 32.5, 0.5, 2, 2, 64.5); // the last step has half the length
}

/// The Stokes equations; `stabilisation` is a term of the pressure and its test function.
Problem stokes(int degree, const std::string& stabilisation) {
  return {.box = {.cells = {2, 2}, .shape = "quadrilateral"},
          .fields = {{"u", 2, 3, "velocity", {1, 3, 4}}, {"p", 0, degree, "pressure", {}}},
          .definitions = {{"profile", "as_vector([x[0]**2 + x[1]**3, -2*x[0]*x[1]])"},
                          {"velocity", "(1 + sin(2*t))*profile"},
                          {"pressure", "cos(3*t)*(x[0] + 2*x[1]**2)"},
                          {"force", "2*cos(2*t)*profile - div(grad(velocity)) + grad(pressure)"},
                          {"traction", "dot(grad(velocity), n) - pressure*n"}},
          .F = "(inner(dt(u), v_u) + inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p - inner(force, v_u)" +
               stabilisation + ")*dx - inner(traction, v_u)*ds(2)"};
}

TEST(ThetaScheme, StokesHasOrderTwo) {
  expect_order(stokes(2, ""), 1, 16, 0.5, 2, 2);
  expect_order(stokes(2, ""), 0.25, 64.5, 0.5, 2, 2, 128.5); // the last step has half the length
}

TEST(ThetaScheme, StabilisedStokesHasOrderTwo) {
  const auto problem = stokes(3, " - 1e-4*inner(grad(p) - grad(pressure), grad(v_p))");
  expect_order(problem, 1, 16, 0.5, 2, 2);
}

} // namespace
