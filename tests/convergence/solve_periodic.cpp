// SPDX-License-Identifier: BSD-3-Clause
// Errors of periodic solutions on meshes with identified sides fall as h^(p+1) in L2 and h^p in the H1 seminorm on
// every shape.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/solver.hpp>

#include "../support/operator_problems.hpp"
#include "../support/orders.hpp"
#include "../support/periodic_meshes.hpp"

namespace {

using namespace rafter;
using test::OrderCase;

/// Returns a product of waves with the periods of the box.
std::string exact_of(int dim) {
  const auto size = test::box_size(dim);
  std::string exact = "1";
  for (int d = 0; d < dim; ++d)
    exact += fmt::format("*(2 + sin({:.17g}*x[{}] + {}))", 2 * std::numbers::pi / size[static_cast<std::size_t>(d)], d,
                         0.4 * d);
  return exact;
}

/// Solves -div grad u + u = f on a torus, or on a mixed box between the two sides across x, where the flux is given.
test::Errors errors_on(const mesh::Mesh& mesh, int degree) {
  test::Problem problem(mesh, degree);
  const std::string exact = exact_of(mesh.gdim);
  const op::Operator A(problem.form("(inner(grad(u), grad(v)) + u*v)*dx"), test::planned());
  test::Vector b = A.make_vector(), x = A.make_vector();
  op::LinearForm(problem.form(fmt::format("(({0}) - div(grad({0})))*v*dx + dot(grad({0}), n)*v*ds", exact)),
                 problem.system(), {.shared_device = A.device()})
      .assemble(b);
  solvers::VectorOps(A.device()).fill(0, x);
  const auto result = solvers::solve(A, b, x, {.control = {.rtol = 1e-12}});
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  const auto integral = [&](const std::string& text) {
    return std::sqrt(op::Functional(problem.functional(text), problem.system(),
                                    {.shared_device = A.device(), .quadrature = {.degree = 2 * degree + 4}})(x));
  };
  return {integral(fmt::format("(u - {})**2*dx", exact)),
          integral(fmt::format("inner(grad(u - {0}), grad(u - {0}))*dx", exact))};
}

class PeriodicOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(PeriodicOrder, is_optimal_on_identified_boxes) {
  const auto& [shape, degree, geometry_degree] = GetParam();
  const auto axes = test::periodic_axes(shape);
  const int dim = test::box_dimension(shape), n = dim == 1 ? 12 : dim == 2 ? 8 : 4;
  const auto coarse = test::identified(test::scrambled(test::wavy_box(shape, n, 1, axes), 5), axes);
  test::expect_orders({errors_on(coarse, degree), errors_on(coarse.refined(1), degree)}, degree);
}

INSTANTIATE_TEST_SUITE_P(shapes, PeriodicOrder, ::testing::ValuesIn(test::order_cases(2, 2)), test::name_of);
INSTANTIATE_TEST_SUITE_P(degrees, PeriodicOrder,
                         ::testing::Values(OrderCase{"interval", 1}, OrderCase{"interval", 4}, OrderCase{"triangle", 1},
                                           OrderCase{"triangle", 4}, OrderCase{"quadrilateral", 1},
                                           OrderCase{"quadrilateral", 3}),
                         test::name_of);

} // namespace
