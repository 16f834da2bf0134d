// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/plain.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/steps_in_turn.hpp>

namespace rafter::schedule {

bool may_try_plain(const PlanningProblem& problem, const Plan&) { return problem.cells_per_batch == 1; }

std::optional<Schedule> schedule_plain(const LoweringInput& input, const Plan& plan) {
  if (!input.target.has_lanes) return std::nullopt;
  return steps_in_turn(*input.program, plan, CellPlace::in_turn, 1);
}

} // namespace rafter::schedule
