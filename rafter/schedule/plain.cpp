// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/plain.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::schedule {

bool accepts_plain(const LoweringInput& input, const Plan&) { return input.target.has_lanes; }

bool may_try_plain(const PlanningProblem& problem, const Plan&) { return problem.cells_per_batch == 1; }

LoopProgram lower_plain(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, ParallelAxis::none);
  Statements body;
  lower_steps(context, body);
  context.result.body = block(context.with_data_row({loop("cell", context.num_active(), block(body))}));
  return std::move(context.result);
}

} // namespace rafter::schedule
