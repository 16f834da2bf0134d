// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/in_time.hpp>

#include <rafter/problem/solve_problem.hpp>

namespace rafter::problem {

TimeResult solve_in_time(const form::Form& F, const std::vector<form::Expr>& unknowns, const TimeOptions& options) {
  Problem problem{
      .unknowns = unknowns,
      .F = F,
      .data = options.data,
      .parameters = options.parameters,
      .time = TimeInterval{.start = options.start, .end = options.end, .step = options.step, .theta = options.theta},
      .discretisation = options.discretisation,
      .null_space = options.null_space,
      .solver = options.solvers.solver,
      .newton = options.solvers.newton,
      .monitor = options.monitor};
  // The options outlive the problem, which need not have a copy.
  if (options.initial) problem.initial = std::shared_ptr<const op::Vector>(std::shared_ptr<void>(), &*options.initial);
  if (options.multigrid) problem.preconditioner = multigrid(*options.multigrid);
  auto solution = solve(problem);
  return {std::move(solution.values), solution.time, std::move(solution.steps), std::move(solution.method)};
}

} // namespace rafter::problem
