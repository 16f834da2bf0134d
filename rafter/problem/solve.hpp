// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rafter/operator/operator.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/solve/result.hpp>

/// Solves of linear systems as programs ask for them.
namespace rafter::problem {

/// Options of solve().
struct SolveOptions {
  /// cg, gmres, minres, bicgstab, direct. Empty: direct for small systems on the host for which nothing iterative is
  /// asked, and for those that cg cannot take, which are refused where the factors are not affordable; else cg
  /// (choose_before_kernels, choose_method).
  std::string method;
  PreconditionerChoice preconditioner = "";      ///< none, jacobi, chebyshev, amg, amg({...}), multigrid({...}),
                                                 ///< block({...}); empty: jacobi
  double rtol = 1e-8;                            ///< residual norm, relative to the loads (solvers::force_norm)
  solvers::Norm norm = solvers::Norm::residual;  ///< or preconditioned (cg, minres)
  std::optional<int> max_iterations;             ///< absent: at most 5000, fewer where nothing is gained any more
  solvers::Monitor monitor;                      ///< called once per iteration; false stops
  std::function<void(const std::string&)> event; ///< gets a line when another method or preconditioner is taken
  std::vector<solvers::NullSpaceCondition>
      null_space; ///< conditions that fix the solution of a singular operator, one per field at most
};

/// The solution of a linear system, and how it was found.
struct SolveResult {
  op::Vector solution;
  solvers::Result info; ///< status, iterations, history
  /// Part of b in the null space, relative to its size, which no solution can balance and which was removed: in effect
  /// a source of the shape of the null vectors. Rounding where the problem is well-posed.
  double removed = 0;
  std::string method; ///< method that was taken
  std::string reason; ///< why that one, where none was named and it is not cg
  bool is_converged() const { return info.status == solvers::Status::converged; }
};

/// Solves A x = b with the operator's Dirichlet conditions, starting from zero; `b` is the vector of the linear form
/// (assemble), not yet changed for the conditions. Numerical failures are reported in the result. Before that the
/// operator is applied to a random vector, by which InputError is thrown where it is not finite, not symmetric though
/// the method needs that, or singular as far as constants and rigid motions show; also for a right-hand side that is
/// not finite, and where conditions on the null space do not fit the operator. (Null spaces are not looked for on a
/// part of a mesh, where the method is cg unless it is named.) For the pressure of enclosed flow, an elastic body that
/// nothing holds, and a pure Neumann problem:
///
///     solve(A, b, {.method = "gmres", .preconditioner = "none", .null_space = {Q.mean({0.0})}});
///     solve(A, b, {.null_space = {V.rigid_modes()}});
///     solve(A, b, {.null_space = {V.value_at({0.0, 0.0}, {1.0})}});
SolveResult solve(const op::Operator& A, const op::Vector& b, const SolveOptions& options = {});

} // namespace rafter::problem
