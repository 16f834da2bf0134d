// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/device/array.hpp>

namespace rafter::solvers {

/// Says how a solve ended.
enum class Status { converged, not_converged, failed };
std::string_view name(Status status); ///< "converged", "not converged" or "failed"

/// Says why a solve stopped before its tolerance or its iterations were reached.
enum class Failure {
  none,
  non_finite,                ///< NaN or Inf in the right-hand side, the operator or the preconditioner
  diverged,                  ///< the residual grew beyond divergence_factor times its first value
  stagnated,                 ///< no progress over a long window of iterations, or at the limit of the precision
  indefinite_operator,       ///< cg: p.Ap <= 0 for a direction p that is not in the null space
  indefinite_preconditioner, ///< cg and minres: r.z < 0, or r.z = 0 with r != 0
  singular_operator,         ///< a direction in the null space of the operator was met
  breakdown,                 ///< the Krylov space cannot grow (gmres), or the first step has no length (bicgstab)
  stopped                    ///< the monitor asked to stop
};
std::string_view name(Failure failure); ///< such as "indefinite operator"

/// Is called once per iteration with the relative residual; false stops the solve, on all processes that solve
/// together.
using Monitor = std::function<bool(int iteration, double relative_residual)>;

/// The norm by which residuals r = b - A x are judged.
enum class Norm {
  residual,      ///< |r|_2
  preconditioned ///< (M^-1 r, r)^1/2 with the preconditioner M^-1, which is close to the energy norm of the error
};
std::string_view name(Norm norm); ///< "residual" or "preconditioned", as in the problem file

/// A 2-norm that residuals are relative to, at the iterate x.
using ReferenceNorm = std::function<double(const device::Vector& x)>;

/// Number of iterations that a solve may take where IterationControl::max_iterations is not given.
inline constexpr int default_max_iterations = 5000;

/// Says when an iteration ends; it is the same for all Krylov methods.
struct IterationControl {
  double rtol = 1e-6; ///< tolerance of the residual's norm, relative to the reference norm
  double atol = 0;    ///< norm of the residual that is small enough
  /// Largest number of iterations. When it is given, only a proven breakdown ends a solve before. Otherwise it is
  /// default_max_iterations, and a solve that shows no progress ends sooner.
  std::optional<int> max_iterations;
  Monitor monitor;
  Norm norm = Norm::residual; ///< cg and minres take any; gmres takes Norm::residual alone
  /// The norm that residuals are relative to, if it is less than that of the first residual, which holds lifted
  /// boundary values (see force_norm()); empty: they are relative to the first residual. Other norms than the 2-norm
  /// are scaled by the same factor.
  ReferenceNorm reference;
  /// 2-norm that residuals are relative to at least, also where the first residual is smaller. Other norms are scaled
  /// as for `reference`.
  double least_reference = 0;
  /// The same for Norm::preconditioned, in this norm.
  double least_preconditioned_reference = 0;
  /// Growth of the residual over its first value that counts as divergence. The growth in cg is bounded by the square
  /// root of the condition number. Doubles hold condition numbers up to the inverse of their precision, and this is the
  /// root of that.
  double divergence_factor = 6.7e7;
  /// Number of iterations without progress that count as stagnation, also where max_iterations is given. 0: it is
  /// chosen from what the iteration shows.
  int stagnation_window = 0;

  /// The first entry of each field in the vectors, and the number of all: estimates of errors are relative to the
  /// largest value of each field by itself. Empty: all entries are values of one field.
  std::vector<std::int64_t> field_offsets{};

  int iteration_limit() const { return max_iterations.value_or(default_max_iterations); }
};

/// Norms of a residual r = b - A x.
struct Norms {
  double residual = 0;                  ///< |r|_2
  std::optional<double> preconditioned; ///< |(M^-1 r, r)|^1/2; absent: not known
};

/// Norms of the residual b - A x that a solve ended with, each relative to what IterationControl says.
struct ResidualNorms {
  double residual = 0; ///< |r|_2
  /// |(M^-1 r, r)|^1/2; absent where it did not end the solve and takes an application of M^-1 that is no scaling.
  std::optional<double> preconditioned;
  double of_first_residual = 0; ///< |r|_2 relative to the first residual, which has the boundary values lifted into it
  bool has_forces = true;       ///< false: the others are relative to |A| |x| (Result::product_norm)
};

/// Result of a solve.
struct Result {
  Status status = Status::not_converged;
  Failure failure = Failure::none;
  std::string message; ///< why it did not converge, one sentence for people
  std::string warning; ///< warning of a solve that converged; empty: none
  int iterations = 0;
  /// Residual of the solution that is returned, recomputed from b - A x where the solve converged.
  double relative_residual = 0;
  /// Relative residual before the first and after each iteration. It begins with a number above 1 where the first
  /// residual holds lifted boundary values (IterationControl::reference).
  std::vector<double> history;
  double seconds = 0;
  /// Estimate of the error that rounding leaves in the solution, relative to the largest value of each field (see
  /// trust.hpp); absent: nothing has shown that it matters.
  std::optional<double> relative_error;
  /// Says whether the solve converged at the level of rounding errors, above its tolerance.
  bool is_at_rounding = false;
  /// The norm |A| |x| that residuals are relative to where loads and reactions are no more than its rounding errors (a
  /// constant solution has no others); absent: there are forces.
  std::optional<double> product_norm;
  /// Norms of b - A x before the first and after the last iteration, as far as the method has computed them.
  std::optional<Norms> first_norms, last_norms;
  std::optional<ResidualNorms> norms; ///< present where solve() has computed them
};

} // namespace rafter::solvers
