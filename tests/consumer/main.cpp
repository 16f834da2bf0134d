// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <numeric>

#include <rafter/rafter.hpp>

using namespace rafter;

// The problem is -div(grad(u)) = 2 between two walls with u = 0. Its solution u = x (1 - x) is in the space, so that
// L(u) = 1/3.
int main() {
  const FunctionSpace V(make_box({.cells = {2, 2, 2}, .shape = "tetrahedron"}), {.degree = 2});
  const auto [u, v] = arguments(V);
  const Operator A(inner(grad(u), grad(v)) * dx, {.dirichlet = {V.fixed({1, 2}, std::vector{0.0})}});
  const auto b = assemble(2.0 * v * dx, A);
  const auto result = solve(A, b, {.rtol = 1e-12});
  if (!result.is_converged()) return 1;
  const auto x = result.solution.host_read(), f = b.host_read();
  std::printf("L(u) = %.9f\n", std::inner_product(x.begin(), x.end(), f.begin(), 0.0));

  // A constant source without walls has no solution. It is removed, and the solution is the constant that the mean
  // gives.
  const Operator N(inner(grad(u), grad(v)) * dx);
  const auto ones = assemble(1.0 * v * dx, N);
  const auto constant = solve(N, ones, {.null_space = {V.mean({0.25})}});
  if (!constant.is_converged() || constant.removed < 0.5) return 1;
  for (const double value : constant.solution.host_read())
    if (std::abs(value - 0.25) > 1e-12) return 1;
}
