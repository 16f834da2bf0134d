// SPDX-License-Identifier: BSD-3-Clause
#include "method_choice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/io/unused_keys.hpp>
#include <rafter/solve/vector_ops.hpp>

#include "singularity.hpp"

namespace rafter::app {
namespace {

std::string reason(std::string_view cause, const op::Operator& A) {
  return fmt::format("chosen because {}, and {} unknowns are few (at most {})", cause, A.num_unknowns(),
                     max_direct_unknowns);
}

/// Direct solves that nobody asked for. A preconditioner that the user named serves no purpose then, nor do its keys,
/// which warnings say.
MethodChoice direct(const io::Problem& problem, std::string_view cause, const op::Operator& A) {
  if (problem.solver.preconditioner != "none") io::warn_of_keys_that_direct_solves_leave(problem, cause);
  return {"direct", reason(cause, A)};
}

bool is_small(const op::Operator& A) { return A.num_unknowns() <= max_direct_unknowns; }

bool has_positive_diagonal(const op::Operator& A) {
  op::Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  return std::ranges::all_of(diagonal.host_read(), [](double entry) { return entry > 0; });
}

/// Moves the tangent to a random state near `start` where it is finite. Returns nothing if no such state is found.
std::optional<Probe> probe_near(const op::Operator& A, const op::Vector& start,
                                const std::function<void(const op::Vector&)>& linearise) {
  const solvers::VectorOps ops(A.device());
  double largest = 0;
  for (const double entry : start.host_read()) largest = std::max(largest, std::abs(entry));
  for (const double share : {1e-2, 1e-5, 1e-8}) {
    op::Vector state = random_vector(A, 3);
    ops.scale(share * (largest > 0 ? largest : 1), state);
    ops.axpy(1, start, state);
    linearise(state);
    Probe probe = make_probe(A, 1);
    if (ops.first_non_finite(probe.image) < 0) return probe;
  }
  return std::nullopt;
}

} // namespace

MethodChoice choose_method(const io::Problem& problem, const op::Operator& A, const Probe& probe) {
  const auto& options = problem.solver;
  if (problem.has_solver_method || !is_small(A)) return {options.method, {}};
  if (asymmetry(A, probe, problem) > 0) return direct(problem, "the operator is not symmetric", A);
  if (solvers::find_preconditioner(options.preconditioner).needs_diagonal && !has_positive_diagonal(A))
    return direct(problem, "the operator is not positive definite (its diagonal is not positive)", A);
  return {options.method, {}};
}

MethodChoice choose_for_tangents(const io::Problem& problem, const op::Operator& A, const ProblemForms& forms,
                                 const op::Vector& start, const std::function<void(const op::Vector&)>& linearise) {
  const Probe probe = make_probe(A, 1);
  require_finite(A, probe, problem, forms);
  auto choice = choose_method(problem, A, probe);
  require_symmetric(A, probe, problem, choice.method);
  if (const auto near = probe_near(A, start, linearise)) {
    require_regular(A, *near, problem, {});
    const bool is_open = !problem.has_solver_method && choice.reason.empty();
    if (is_open && asymmetry(A, *near, problem) > 0) choice = choose_method(problem, A, *near);
    require_symmetric(A, *near, problem, choice.method);
  }
  linearise(start);
  return choice;
}

std::optional<MethodChoice> choose_after(const io::Problem& problem, const op::Operator& A,
                                         const solvers::Result& result, const solvers::Preconditioner& M) {
  using enum solvers::Failure;
  const bool has_ended = result.status == solvers::Status::converged || result.failure == stopped;
  if (problem.has_solver_method || !is_small(A) || has_ended) return std::nullopt;
  std::string sign;
  if (result.failure == indefinite_operator)
    sign = fmt::format("cg met p.Ap <= 0 in iteration {}", result.iterations + 1);
  else if (M.num_negative_eigenvalues() > 0)
    sign =
        fmt::format("coarse factors of the preconditioner tell {} negative eigenvalues", M.num_negative_eigenvalues());
  else if (result.failure == indefinite_preconditioner)
    sign = fmt::format("cg met r.z <= 0 in iteration {}", result.iterations + 1);
  else
    return std::nullopt;
  return direct(problem, fmt::format("the operator is not positive definite ({})", sign), A);
}

std::optional<MethodChoice> choose_without_preconditioner(const io::Problem& problem, const op::Operator& A,
                                                          const base::SolverError& error) {
  if (problem.has_solver_method || !is_small(A)) return std::nullopt;
  return direct(problem, fmt::format("the preconditioner cannot be made ({})", error.what()), A);
}

} // namespace rafter::app
