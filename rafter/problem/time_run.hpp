// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/problem/phases.hpp>
#include <rafter/problem/solution.hpp>

/// Problems in time are solved step by step.
namespace rafter::problem {

/// Makes steps from the first time of the problem, or from where an earlier output ends, to its last one. Evaluates
/// functionals and checks for the last state and writes the output. Throws as solve() does.
Solution solve_steps(const PreparedProblem& prepared, Phases& phases);

} // namespace rafter::problem
