// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/linear_solve.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/problem/conditioning.hpp>
#include <rafter/problem/operator_checks.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/problem/singularity.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/force_norm.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

/// Throws InputError unless the values of the linear form and their norm are finite.
void require_finite_load(const Request& request, const op::Operator& A, const op::Vector& b) {
  if (std::isfinite(solvers::VectorOps(A).norm(b))) return;
  const auto found = request.statement.what_is_not_finite();
  throw base::InputError(!found.empty()
                             ? found
                             : at(request.statement.places.load,
                                  at(request.statement.load_name, "the right-hand side is not finite, or its norm "
                                                                  "exceeds the largest double, 1.8e308: check its "
                                                                  "expressions")));
}

std::vector<std::string> names_of(const op::System& system) {
  std::vector<std::string> result;
  for (const auto& space : system.spaces) result.push_back(space->name);
  return result;
}

} // namespace

LinearSolve::LinearSolve(const Request& request, const op::Operator& A, const LinearParts& parts)
    : request_(request), A_(A) {
  auto choice = [&] { // the vectors of the probe go before others are made
    const Probe probe = make_probe(A, 1);
    require_finite(A, probe, request);
    if (parts.null_space) null_space_ = parts.null_space();
    if (request.is_whole) require_regular(A, probe, request, *null_space_.null_space());
    auto result = request.is_whole ? choose_method(request, A, probe) : MethodChoice{request.solver.method, {}};
    require_symmetric(A, probe, request, result.method);
    return result;
  }();
  make_right_hand_side(parts);
  if (parts.check) parts.check();
  options_ = request.solver;
  options_.control.field_offsets = field_offsets(A.system());
  options_.null_space = null_space_.null_space();
  if (parts.preconditioner) parts.preconditioner(options_);
  try {
    take(std::move(choice));
  } catch (const base::SolverError& error) {
    if (request.is_whole && !solvers::find_method(choice_.method).is_direct) require_diagonal(A, request);
    auto other = choose_without_preconditioner(request, A, error);
    if (request.is_whole && options_.method == "direct") throw base::SolverError(with_causes(error.what(), A));
    if (!other) refuse_preconditioner(request, error);
    take(std::move(*other));
  }
}

void LinearSolve::make_right_hand_side(const LinearParts& parts) {
  const solvers::VectorOps ops(A_.device());
  b_ = A_.make_vector();
  x_ = A_.make_vector();
  ops.fill(0, x_);
  if (parts.load)
    parts.load(b_);
  else
    ops.fill(0, b_);
  require_finite_load(request_, A_, b_);
  op::Vector load = A_.make_vector();
  ops.copy(b_, load);
  A_.apply_boundary_values(b_, x_);
  removed_ = null_space_.balance(b_, load);
  reference_ = solvers::force_norm(A_, load);
}

void LinearSolve::take(MethodChoice choice) {
  choice_ = std::move(choice);
  options_.method = choice_.method;
  preconditioner_ = make_preconditioner(request_, A_, options_);
}

solvers::Result LinearSolve::run_method(solvers::SolverOptions options) {
  options.control.monitor = [this](int iteration, double residual) {
    const auto& own = request_.solver.control.monitor;
    return request_.progress.goes_on(iteration, residual) && (!own || own(iteration, residual));
  };
  options.control.reference = reference_;
  options.fields = std::make_shared<const solvers::FieldBalance>(A_, names_of(A_.system()));
  solvers::Result result;
  at_preconditioner(request_.statement.places, [&] { result = solvers::solve(A_, b_, x_, *preconditioner_, options); });
  return result;
}

solvers::Result LinearSolve::run() {
  const solvers::VectorOps ops(A_.device());
  op::Vector start = A_.make_vector();
  ops.copy(x_, start);
  const auto first = trial_options(request_, options_);
  auto result = run_method(first);
  if (has_chosen_multigrid(request_, first) && needs_jacobi(result, options_)) {
    auto other = choose_after_multigrid(request_, A_);
    if (!other) take_jacobi(request_, options_, "multigrid does not serve here");
    take(other ? std::move(*other) : std::move(choice_));
    ops.copy(start, x_);
    result = run_method(options_);
  }
  if (auto other = choose_after(request_, A_, result, *preconditioner_)) {
    request_.progress.notify(fmt::format("solve: {} does not serve, {} follows", choice_.method, other->method));
    take(std::move(*other));
    x_ = std::move(start);
    result = run_method(options_);
  }
  null_space_.constrain(x_);
  return result;
}

} // namespace rafter::problem
