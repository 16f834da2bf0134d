// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/vtkhdf.hpp>

#include "problem_solver.hpp"

/// Solves of all kinds share how they make, write and check their solution.
namespace rafter::app {

/// Returns a solution with the part of its report that is known before it is checked; `status` is that of the solver.
Solution make_solution(const PreparedProblem& prepared, op::Vector values, solvers::Status status);

/// Returns the name of the preconditioner for a report; "" where there is none, as with direct methods.
std::string preconditioner_name(const std::string& method, const std::string& preconditioner);

/// Returns the fields of the problem in a vector of its system, for output. The vector must outlive them.
std::vector<io::OutputField> output_fields(const PreparedProblem& prepared, const op::Vector& values);
/// Returns the other fields of the output. There are none where values are not finite, as a failed solve may leave
/// them.
std::vector<io::DerivedField> derived_fields(const PreparedProblem& prepared, const op::Vector& values);

/// Evaluates functionals and errors of a solve that converged.
void check_solution(const PreparedProblem& prepared, Phases& phases, Solution& solution);

} // namespace rafter::app
