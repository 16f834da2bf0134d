// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "problem_solver.hpp"

/// Problems with [time] are solved step by step.
namespace rafter::app {

/// Makes steps from the first time of the problem, or from where an earlier output ends, to its last one. Evaluates
/// functionals and checks for the last state and writes the output. Throws as solve_problem() does.
Solution solve_in_time(const PreparedProblem& prepared, Phases& phases);

} // namespace rafter::app
