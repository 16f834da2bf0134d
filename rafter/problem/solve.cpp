// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/solve.hpp>

#include <rafter/mesh/mesh.hpp>
#include <rafter/problem/linear_solve.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

Problem stated(const op::Operator& A, const SolveOptions& options) {
  const auto& preconditioner = options.preconditioner.name;
  Problem result{.has_method = !options.method.empty(),
                 .has_preconditioner = !preconditioner.empty(),
                 .is_iterated = options.max_iterations || options.norm != solvers::Norm::residual,
                 .iteration = options.monitor};
  if (result.has_method) result.solver.method = options.method;
  if (result.has_preconditioner) result.solver.preconditioner = preconditioner;
  result.solver.control.norm = options.norm;
  result.solver.control.rtol = options.rtol;
  result.solver.control.max_iterations = options.max_iterations;
  if (options.preconditioner.multigrid) result.solver.multigrid = options.preconditioner.multigrid->parameters;
  if (options.preconditioner.parameters) result.solver.multigrid = *options.preconditioner.parameters;
  result.is_checked = A.system().mesh->distribution == nullptr;
  if (result.is_checked) choose_small(result, A);
  return result;
}

} // namespace

SolveResult solve(const op::Operator& A, const op::Vector& b, const SolveOptions& options) {
  const auto problem = stated(A, options);
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
  LinearSolve linear(problem, A, parts);
  auto info = linear.run();
  const auto& [method, reason] = linear.choice();
  return {std::move(linear.solution()), std::move(info), linear.removed(), method, reason};
}

} // namespace rafter::problem
