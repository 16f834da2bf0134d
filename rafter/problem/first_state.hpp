// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include <rafter/problem/method_choice.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/theta_stepper.hpp>

/// Checks at the state that Newton's method or the first step in time begins with, and the method for what follows.
namespace rafter::problem {

/// Returns the method for the tangents of a residual form. The tangent of the equations, which is A, is that at `start`
/// in the end. Throws InputError where the residual or its derivative is not finite there, and as
/// choose_for_tangents() does.
MethodChoice choose_for_residual(const Request& request, solvers::ResidualProblem& equations, const op::Operator& A,
                                 const op::Vector& start);

/// Returns the method for the systems of steps in time, whose operator is A. The stepper is bound to the first step in
/// the end, and has the null space of a linear problem. `null_space` and `set_time` may be empty: there is no condition
/// on a null space, and nothing else has values in time. Throws InputError where the first step has no finite values,
/// for singular operators, and as require_symmetric() does.
MethodChoice choose_for_steps(const Request& request, solvers::ThetaStepper& stepper, const op::Operator& A,
                              const solvers::TimeStep& first, const op::Vector& state,
                              const std::function<solvers::ConstrainedNullSpace()>& null_space,
                              const std::function<void(double time)>& set_time);

} // namespace rafter::problem
