// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/nonlinear.hpp>

#include <rafter/problem/solve_problem.hpp>

namespace rafter::problem {

NonlinearResult solve_nonlinear(const form::Form& F, const std::vector<form::Expr>& unknowns,
                                const NonlinearOptions& options) {
  Problem problem{.unknowns = unknowns,
                  .F = F,
                  .energy = options.energy,
                  .data = options.data,
                  .parameters = options.parameters,
                  .discretisation = options.discretisation,
                  .solver = options.newton.solver,
                  .newton = options.newton};
  // The options outlive the problem, which need not have a copy.
  if (options.initial) problem.initial = std::shared_ptr<const op::Vector>(std::shared_ptr<void>(), &*options.initial);
  if (options.multigrid) problem.preconditioner = multigrid(*options.multigrid);
  auto solution = solve(problem);
  return {std::move(solution.values), std::move(*solution.newton), std::move(solution.method)};
}

} // namespace rafter::problem
