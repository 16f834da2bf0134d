// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `simd_cells`: the cells of a batch stand in the lanes of SIMD registers.
std::optional<Schedule> schedule_simd_cells(const LoweringInput& input, const Plan& plan);
/// The schedule of the work on the cells that stand side by side, in lanes or items; nothing where steps are fused.
std::optional<Schedule> schedule_cells(const LoweringInput& input, const Plan& plan, CellPlace cell_place);
bool accepts_simd_cells(const LoweringInput& input, const Plan& plan);
/// Batches of one cell have no lanes.
bool may_try_simd_cells(const PlanningProblem& problem, const Plan& plan);
/// Lowers that work where steps are fused.
void lower_cells(Context& context, Statements& to);
/// Sub-batches that stand side by side in the work arrays of a program, on which a plan has lanes.
int subbatches_of_pass(const kernel::TensorProgram& program, const Plan& plan);
LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
