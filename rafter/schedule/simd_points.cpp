// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/simd_points.hpp>

namespace rafter::schedule {

bool may_try_simd_points(const PlanningProblem& problem, const Plan& plan) {
  const int vector_width = usual_width(problem.cells_per_batch, problem.register_width),
            points = problem.points_per_axis;
  const bool has_grid = problem.is_tensor && problem.num_points > points && problem.output_bytes > 0;
  const bool fills = 4 * points >= 3 * vector_width * ((points + vector_width - 1) / vector_width);
  return problem.cells_per_batch > 1 && has_grid && plan[key::contraction] == kernel::Contraction::collocated &&
         has_large_arrays(problem, vector_width) && fills;
}

std::optional<Schedule> schedule_simd_points(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  // Sums over points and stored data would need the number of points in the last, partly filled vector.
  if (!input.target.has_lanes || plan[key::vector_width] == 1 || input.program->batches.has_lists ||
      !kernel::has_tests_alone(program.function) || !has_equal_extents(program))
    return std::nullopt;
  const auto stages = collocated_stages(program);
  if (!stages || stages->results.empty()) return std::nullopt;
  return schedule_fused_points(input, plan, *stages);
}

} // namespace rafter::schedule
