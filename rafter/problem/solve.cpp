// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/solve.hpp>

#include <rafter/problem/conditioning.hpp>
#include <rafter/problem/linear_solve.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

Request stated_linear(const op::Operator& A, const SolveOptions& options) {
  const auto& of = options.preconditioner;
  solvers::SolverOptions solver{.method = options.method, .preconditioner = of.name};
  solver.control.norm = options.norm;
  solver.control.rtol = options.rtol;
  solver.control.max_iterations = options.max_iterations;
  solver.control.monitor = options.monitor;
  if (of.multigrid) solver.multigrid = of.multigrid->parameters;
  if (of.parameters) solver.multigrid = *of.parameters;
  Request result{.solver = solver,
                 .has_method = !solver.method.empty(),
                 .has_preconditioner = !solver.preconditioner.empty(),
                 .is_iterated = asks_for_iterations(solver),
                 .is_whole = A.system().mesh->distribution == nullptr,
                 .progress = {.event = options.event}};
  result.solver.method = solvers::method_of(solver).name;
  result.solver.preconditioner = solvers::preconditioner_of(solver).name;
  warn_of_unused_preconditioner(result);
  if (result.is_whole) choose_small(result, A);
  return result;
}

} // namespace

SolveResult solve(const op::Operator& A, const op::Vector& b, const SolveOptions& options) {
  const auto request = stated_linear(A, options);
  const LinearParts parts{.null_space = [&] { return solvers::make_null_space(A, options.null_space); },
                          .load = [&](op::Vector& load) { solvers::VectorOps(A).copy(b, load); },
                          .preconditioner =
                              [&](solvers::SolverOptions& of_solver) {
                                of_solver.near_null_space = [&A] { return solvers::make_near_null_space(A.system()); };
                                if (solvers::find_method(of_solver.method).is_direct) return;
                                if (const auto& multigrid = options.preconditioner.multigrid)
                                  of_solver.hierarchy = make_hierarchy(A, *multigrid, options.null_space);
                                if (of_solver.preconditioner == "block")
                                  of_solver.blocks =
                                      make_blocks(A, options.preconditioner, *of_solver.null_space, options.null_space);
                              }};
  LinearSolve linear(request, A, parts);
  auto info = linear.run();
  if (request.is_whole) explain(info, A);
  const auto& [method, reason] = linear.choice();
  return {std::move(linear.solution()), std::move(info), linear.removed(), method, reason};
}

} // namespace rafter::problem
