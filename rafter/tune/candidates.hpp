// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::tune {

/// All plans that make sense: for every key that such a plan has, the values that are tried (schedule::Key::tried). The
/// usual one stands first. Candidates of kernels of cell matrices are their usual plan with other values of a
/// few keys (schedule::Key::is_tried_in_matrices).
std::vector<schedule::Plan> candidates(const schedule::PlanningProblem& problem,
                                       const schedule::KeyRegistry& keys = schedule::key_registry());

/// Returns the share of the cost model's error that two plans have in common, 0 to 1: the product of
/// schedule::Key::shared over the keys that both have and in which they differ.
double similarity(const schedule::Plan& a, const schedule::Plan& b,
                  const schedule::KeyRegistry& keys = schedule::key_registry());

} // namespace rafter::tune
