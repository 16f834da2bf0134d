// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/separable_cells.hpp>
#include <rafter/schedule/simd_cells.hpp>
#include <rafter/schedule/steps_in_turn.hpp>

namespace rafter::schedule {

bool accepts_simd_cells(const LoweringInput& input, const Plan& plan) {
  return input.target.has_lanes && plan[key::vector_width] > 1;
}

bool may_try_simd_cells(const PlanningProblem& problem, const Plan&) { return problem.cells_per_batch > 1; }

namespace {

bool is_separable(const kernel::TensorProgram& program) {
  return program.contraction == kernel::Contraction::separable && has_equal_extents(program);
}
/// Says whether the steps of a program are fused for one sub-batch at a time.
bool takes_one_subbatch(const kernel::TensorProgram& program) { return is_separable(program) || can_fuse(program); }

} // namespace

int subbatches_of_pass(const kernel::TensorProgram& program, const Plan& plan) {
  return takes_one_subbatch(program) ? 1 : plan[key::subbatches];
}

std::optional<Schedule> schedule_cells(const LoweringInput& input, const Plan& plan, CellPlace cell_place) {
  if (takes_one_subbatch(*input.program)) return std::nullopt;
  return steps_in_turn(input, plan, cell_place, subbatches_of_pass(*input.program, plan));
}

std::optional<Schedule> schedule_simd_cells(const LoweringInput& input, const Plan& plan) {
  if (!accepts_simd_cells(input, plan)) return std::nullopt;
  return schedule_cells(input, plan, CellPlace::lanes);
}

void lower_cells(Context& context, Statements& to) {
  if (is_separable(context.program))
    lower_separable(context, to);
  else
    lower_fused(context, to);
}

LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, ParallelAxis::cell, subbatches_of_pass(*input.program, plan));
  Statements body;
  lower_cells(context, body);
  return finished(context, std::move(body));
}

} // namespace rafter::schedule
