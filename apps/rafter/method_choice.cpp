// SPDX-License-Identifier: BSD-3-Clause
#include "method_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rafter::app {
namespace {

std::string reason(std::string_view cause, const op::Operator& A) {
  return fmt::format("chosen because {}, and {} unknowns are few (at most {})", cause, A.num_unknowns(),
                     max_direct_unknowns);
}

bool is_small(const op::Operator& A) { return A.num_unknowns() <= max_direct_unknowns; }

bool has_positive_diagonal(const op::Operator& A) {
  op::Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  return std::ranges::all_of(diagonal.host_read(), [](double entry) { return entry > 0; });
}

} // namespace

MethodChoice choose_method(const io::Problem& problem, const op::Operator& A, const Probe& probe) {
  const auto& options = problem.solver;
  if (problem.has_solver_method || !is_small(A)) return {options.method, {}};
  if (asymmetry(A, probe, problem) > 0) return {"direct", reason("the operator is not symmetric", A)};
  if (solvers::find_preconditioner(options.preconditioner).needs_diagonal && !has_positive_diagonal(A))
    return {"direct", reason("the operator is not positive definite (its diagonal is not positive)", A)};
  return {options.method, {}};
}

std::optional<MethodChoice> choose_after(const io::Problem& problem, const op::Operator& A,
                                         const solvers::Result& result) {
  if (problem.has_solver_method || !is_small(A) || result.failure != solvers::Failure::indefinite_operator)
    return std::nullopt;
  return MethodChoice{"direct", reason(fmt::format("the operator is not positive definite (cg met p.Ap <= 0 in "
                                                   "iteration {})",
                                                   result.iterations + 1),
                                       A)};
}

} // namespace rafter::app
