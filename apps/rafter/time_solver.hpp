// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "problem_solver.hpp"

/// Problems with [time].
namespace rafter::app {

/// Steps from the first time of the problem, or from where an earlier output ends, to its last one; evaluates
/// functionals and checks of the last state and writes the output. Throws as solve_problem().
Solution solve_in_time(const PreparedProblem& prepared, Phases& phases);

} // namespace rafter::app
