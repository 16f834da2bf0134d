// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rafter::solvers {

enum class Status { converged, not_converged, failed };
std::string_view name(Status status); ///< "converged", "not converged", "failed"

/// Why a solve stopped before its tolerance or its iterations were reached.
enum class Failure {
  none,
  non_finite,                ///< NaN or Inf in the right-hand side, the operator or the preconditioner
  diverged,                  ///< the residual grew beyond divergence_factor times its first value
  stagnated,                 ///< no progress over a long window of iterations, or at the limit of the precision
  indefinite_operator,       ///< cg: p.Ap < 0
  indefinite_preconditioner, ///< cg: r.z <= 0 with r != 0
  singular_operator,         ///< a direction in the null space of the operator was met
  breakdown,                 ///< gmres: the Krylov space cannot grow and holds no solution
  stopped                    ///< the monitor asked to stop
};
std::string_view name(Failure failure); ///< "indefinite operator", ...

/// Called once per iteration with the relative residual; false stops the solve.
using Monitor = std::function<bool(int iteration, double relative_residual)>;

/// When an iteration ends; the same for all Krylov methods.
struct IterationControl {
  double rtol = 1e-6; ///< of the residual's 2-norm, relative to that of the initial guess
  double atol = 0;    ///< absolute 2-norm of the residual that is small enough
  int max_iterations = 5000;
  Monitor monitor;
  double divergence_factor = 1e5; ///< growth of the residual over its first value that counts as divergence
  int stagnation_window =
      0; ///< iterations without a reduction by a tenth that count as stagnation; 0: chosen from the size
};

struct Result {
  Status status = Status::not_converged;
  Failure failure = Failure::none;
  std::string message; ///< one sentence for people; empty when converged
  int iterations = 0;
  double relative_residual = 0; ///< of the solution returned, recomputed from b - A x where the solve converged
  std::vector<double> history;  ///< relative residual before the first and after each iteration
  double seconds = 0;
};

} // namespace rafter::solvers
