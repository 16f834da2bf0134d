// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/separable_cells.hpp>
#include <rafter/schedule/simd_cells.hpp>
#include <rafter/schedule/slice_cells.hpp>
#include <rafter/schedule/steps_in_turn.hpp>

namespace rafter::schedule {

bool may_try_simd_cells(const PlanningProblem& problem, const Plan&) { return problem.cells_per_batch > 1; }

std::optional<Schedule> schedule_cells(const LoweringInput& input, const Plan& plan, CellPlace cell_place) {
  const auto& program = *input.program;
  if (has_equal_extents(program)) {
    if (program.contraction == kernel::Contraction::separable) return schedule_separable(program, plan, cell_place);
    if (const auto stages = collocated_stages(program)) return schedule_fused(input, plan, cell_place, *stages);
  }
  if (auto slices = schedule_slices(input, plan, cell_place)) return slices;
  return steps_in_turn(*input.program, plan, cell_place, plan[key::subbatches]);
}

std::optional<Schedule> schedule_simd_cells(const LoweringInput& input, const Plan& plan) {
  if (!input.target.has_lanes || plan[key::vector_width] == 1) return std::nullopt;
  return schedule_cells(input, plan, CellPlace::lanes);
}

} // namespace rafter::schedule
