// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/first_state.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/problem/operator_checks.hpp>
#include <rafter/problem/singularity.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

void require_finite_start(const Request& request, solvers::ResidualProblem& equations, const op::Vector& start) {
  op::Vector r(start.device(), start.size());
  const solvers::VectorOps ops(start.device());
  const auto require = [&](std::string_view what) {
    if (ops.first_non_finite(r) < 0) return;
    if (const auto coefficient = request.statement.what_is_not_finite(); !coefficient.empty())
      throw base::InputError(coefficient);
    throw base::InputError(at(request.statement.places.form,
                              fmt::format("{}: {} the starting state is not finite: {}; fields.NAME.initial = "
                                          "\"expression\" gives another state to start from",
                                          request.statement.form_name, what, equations.describe_non_finite(r, start))));
  };
  equations.residual(start, r);
  require("the residual of");
  op::Vector ones(start.device(), start.size());
  ops.fill(1, ones);
  equations.linearise(start);
  equations.apply_tangent_free(ones, r);
  require("the derivative of the residual at");
}

void require_finite_step(const Request& request, solvers::ThetaStepper& stepper, const solvers::TimeStep& first,
                         const op::Vector& state, const std::function<void(double time)>& set_time) {
  const auto found = stepper.describe_non_finite(first, state);
  if (found.empty()) return;
  std::string coefficient;
  for (const double time : {first.begin, first.end}) {
    if (set_time) set_time(time);
    if (coefficient.empty()) coefficient = request.statement.what_is_not_finite();
  }
  throw base::InputError(!coefficient.empty()
                             ? coefficient
                             : at(request.statement.places.form,
                                  fmt::format("{}: the first step has no finite value: {}; check the expressions and "
                                              "the state at the first time, fields.NAME.initial",
                                              request.statement.form_name, found)));
}

} // namespace

ResidualStart choose_for_residual(Request request, solvers::ResidualProblem& equations, const op::Operator& A,
                                  const op::Vector& start,
                                  const std::function<solvers::ConstrainedNullSpace()>& null_space) {
  ResidualStart result;
  require_finite_start(request, equations, start);
  if (null_space) {
    result.null_space = null_space();
    request.solver.null_space = result.null_space.null_space();
  }
  // Making it again there refuses null functions of the first tangent that others see.
  const auto examine_near = null_space ? std::function<void()>([&] { null_space(); }) : nullptr;
  result.choice = choose_for_tangents(
      request, A, start, [&](const op::Vector& state) { equations.linearise(state); }, examine_near);
  return result;
}

MethodChoice choose_for_steps(const Request& request, solvers::ThetaStepper& stepper, const op::Operator& A,
                              const solvers::TimeStep& first, const op::Vector& state,
                              const std::function<solvers::ConstrainedNullSpace()>& null_space,
                              const std::function<void(double time)>& set_time) {
  if (set_time) set_time(first.end);
  stepper.bind(first, state);
  if (!stepper.is_linear()) {
    require_finite_step(request, stepper, first, state, set_time);
    auto own = request;
    if (null_space) {
      auto fixed = null_space();
      own.solver.null_space = fixed.null_space();
      stepper.use_null_space(std::move(fixed));
    }
    const auto examine_near = null_space ? std::function<void()>([&] { null_space(); }) : nullptr;
    return choose_for_tangents(
        own, A, state, [&](const op::Vector& other) { stepper.bind(first, other); }, examine_near);
  }
  const Probe probe = make_probe(A, 1);
  require_finite(A, probe, request);
  require_finite_step(request, stepper, first, state, set_time);
  if (null_space) {
    auto fixed = null_space();
    require_regular(A, probe, request, *fixed.null_space());
    stepper.use_null_space(std::move(fixed));
  } else {
    const solvers::NullSpace none;
    require_regular(A, probe, request, request.solver.null_space ? *request.solver.null_space : none);
  }
  auto choice = choose_method(request, A, probe);
  require_symmetric(A, probe, request, choice.method);
  if (!solvers::find_method(choice.method).is_direct) require_diagonal(A, request);
  return choice;
}

} // namespace rafter::problem
