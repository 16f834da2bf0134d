// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/vtkhdf.hpp>

#include "problem_solver.hpp"

/// What solves of all kinds do with their solution.
namespace rafter::app {

/// A solution with the part of its report that is known before it is judged. `status` of the solver.
Solution make_solution(const PreparedProblem& prepared, op::Vector values, solvers::Status status);

/// Fields of the problem in a vector of its system, for output. The vector must outlive them.
std::vector<io::OutputField> output_fields(const PreparedProblem& prepared, const op::Vector& values);
/// Fields of the output beside those; none where the values are not finite, as a solve that failed may leave them.
std::vector<io::DerivedField> derived_fields(const PreparedProblem& prepared, const op::Vector& values);

/// Functionals and errors of a solve that converged.
void check_solution(const PreparedProblem& prepared, Phases& phases, Solution& solution);

} // namespace rafter::app
