// SPDX-License-Identifier: BSD-3-Clause
// Manufactured solutions of nonlinear laws converge with optimal orders in the mesh size, and Newton's method converges
// quadratically.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/rafter.hpp>
#include <tests/support/orders.hpp>

namespace {

using namespace rafter;

/// A law P(w) of a field w has the equations -div(P(u)) + s(u) = load; it comes with the function that shall solve
/// them.
struct Law {
  std::string name;
  bool is_vector = false;
  std::string flux, source, exact;
};

std::string displacement(int dim) {
  return dim == 2 ? "as_vector([0.15*sin(1.5*x[0])*cos(x[1]), 0.1*exp(0.5*x[0])*x[1]])"
                  : "as_vector([0.15*sin(1.5*x[0])*cos(x[1]), 0.1*exp(0.5*x[0])*x[1], 0.1*x[2]*cos(x[0])])";
}

Law p_laplacian() {
  return {"p_laplacian", false, "(0.01 + inner(grad(w), grad(w)))*grad(w)", "0*w", test::scalar_exact(2)};
}
Law reaction() { return {"reaction", false, "(1 + w*w)*grad(w)", "exp(w) + w**3", test::scalar_exact(2)}; }
Law st_venant_kirchhoff(int dim) {
  return {"st_venant_kirchhoff_" + std::to_string(dim) + "d", true, "D(w)*(2*tr(E(w))*I + 2*E(w))", "0*w",
          displacement(dim)};
}
Law neo_hookean(int dim) {
  return {"neo_hookean_" + std::to_string(dim) + "d", true,
          "D(w) - transpose(inv(D(w))) + 2*ln(det(D(w)))*transpose(inv(D(w)))", "0*w", displacement(dim)};
}

struct Solved {
  double error = 0; ///< relative error in L2
  solvers::NewtonResult info;
};

Solved solve_law(const Law& law, const std::string& shape, int cells, int degree) {
  const int dim = test::box_dimension(shape);
  const auto mesh = make_box({.cells = std::vector<int>(static_cast<std::size_t>(dim), cells), .shape = shape});
  const FunctionSpace V(mesh, {.degree = degree, .components = law.is_vector ? dim : 0});
  const std::shared_ptr<const form::FieldSpace> space = V;
  form::Scope scope(dim);
  scope.add_field(space);
  scope.add_test_functions({&space, 1});
  scope.define("I", "Identity(" + std::to_string(dim) + ")");
  scope.define("D(w)", "I + grad(w)");
  scope.define("E(w)", "0.5*(transpose(D(w))*D(w) - I)");
  scope.define("P(w)", law.flux);
  scope.define("s(w)", law.source);
  scope.define("exact", law.exact);
  const auto F = form::parse_form("(inner(P(u), grad(v)) + inner(s(u) + div(P(exact)) - s(exact), v))*dx", scope);
  const form::PointEvaluator values(form::parse_expression("exact", scope));
  NonlinearOptions options;
  options.newton.rtol = 1e-11;
  options.newton.solver.control.rtol = 1e-13;
  options.newton.solver.method = law.is_vector ? "cg" : "direct"; // the tangent of the law (1 + u^2) is not symmetric
  options.discretisation = test::planned({.threads = 1});
  options.discretisation.dirichlet = {
      {V.ptr(), {.is_all = true, .value = [&](std::span<const double> x, std::span<double> at) { values(x, at); }}}};
  const auto result = solve_nonlinear(F, {form::field(space, "u")}, options);
  const auto norm = [&](const std::string& text) {
    const auto square = form::parse_form("inner(" + text + ", " + text + ")*dx(degree=12)", scope);
    return std::sqrt(Functional(square, op::make_system({V.ptr()}), options.discretisation)(result.solution));
  };
  return {norm("(u - exact)") / norm("exact"), result.info};
}

struct LawCase {
  Law law;
  std::string shape;
  int cells, degree;
  double order_tolerance = 0.2; ///< tolerance of Newton's order, which is 2
};

void PrintTo(const LawCase& c, std::ostream* out) { *out << c.law.name << " on " << c.shape; }

class NonlinearOrder : public ::testing::TestWithParam<LawCase> {};

TEST_P(NonlinearOrder, IsOptimalAndTailsAreQuadratic) {
  const auto& [law, shape, cells, degree, order_tolerance] = GetParam();
  const auto coarse = solve_law(law, shape, cells, degree), fine = solve_law(law, shape, 2 * cells, degree);
  for (const auto& newton : {coarse.info, fine.info}) {
    ASSERT_EQ(newton.status, solvers::Status::converged) << newton.message;
    std::string tail;
    for (const auto& step : newton.steps) tail += fmt::format(" {:.1e}", step.residual);
    RecordProperty("residuals", tail);
    // The order of the last step but one: behind it the tolerance of R limits that of the linear system.
    const auto& steps = newton.steps;
    ASSERT_GE(steps.size(), 4U) << tail;
    const auto* last = &steps[steps.size() - 2];
    EXPECT_NEAR(std::log(last[0].residual / last[-1].residual) / std::log(last[-1].residual / last[-2].residual), 2,
                order_tolerance)
        << tail;
  }
  // The number of steps depends on the law and on the starting state, but not on the mesh.
  EXPECT_LE(fine.info.iterations, coarse.info.iterations + 3);
  const double order = std::log2(coarse.error / fine.error);
  RecordProperty("order", fmt::format("{:.3f}", order));
  EXPECT_NEAR(order, degree + 1, 0.3) << coarse.error << " -> " << fine.error;
}

// The tangent of the p-Laplacian nearly vanishes where the gradient does, so that it comes near its order late.
INSTANTIATE_TEST_SUITE_P(laws, NonlinearOrder,
                         ::testing::Values(LawCase{p_laplacian(), "quadrilateral", 4, 3, 0.45},
                                           LawCase{p_laplacian(), "triangle", 6, 2, 0.45},
                                           LawCase{reaction(), "triangle", 4, 3},
                                           LawCase{st_venant_kirchhoff(2), "quadrilateral", 4, 2},
                                           LawCase{st_venant_kirchhoff(3), "tetrahedron", 2, 2},
                                           LawCase{neo_hookean(2), "triangle", 4, 2},
                                           LawCase{neo_hookean(3), "hexahedron", 2, 2}),
                         [](const auto& c) { return c.param.law.name + "_" + c.param.shape; });

} // namespace
