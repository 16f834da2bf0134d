// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include <rafter/problem/method_choice.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/theta_stepper.hpp>

/// Checks at the state that Newton's method or the first step in time begins with, and the method for what follows.
namespace rafter::problem {

/// What Newton's method begins with: the method for the tangents, and their null space.
struct ResidualStart {
  MethodChoice choice;
  solvers::ConstrainedNullSpace null_space;
};

/// Returns the method for the tangents of a residual form, and their null space where `null_space` is given: that of
/// the tangent at `start`, which one at a state near it has to have, too. The tangent of the equations, which is A, is
/// that at `start` in the end. Throws InputError where the residual or its derivative is not finite there, and as
/// choose_for_tangents() and PreparedProblem::make_null_space() do.
ResidualStart choose_for_residual(Request request, solvers::ResidualProblem& equations, const op::Operator& A,
                                  const op::Vector& start,
                                  const std::function<solvers::ConstrainedNullSpace()>& null_space);

/// Returns the method for the systems of steps in time, whose operator is A. The stepper is bound to the first step in
/// the end, and has the null space. `null_space` and `set_time` may be empty: there is no condition
/// on a null space, and nothing else has values in time. Throws InputError where the first step has no finite values,
/// for singular operators, and as require_symmetric() does.
MethodChoice choose_for_steps(const Request& request, solvers::ThetaStepper& stepper, const op::Operator& A,
                              const solvers::TimeStep& first, const op::Vector& state,
                              const std::function<solvers::ConstrainedNullSpace()>& null_space,
                              const std::function<void(double time)>& set_time);

} // namespace rafter::problem
