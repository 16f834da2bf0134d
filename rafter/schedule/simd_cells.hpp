// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `simd_cells`: the cells of a batch stand in the lanes of SIMD registers.
std::optional<Schedule> schedule_simd_cells(const LoweringInput& input, const Plan& plan);
/// The schedule of the work on the cells that stand side by side, in lanes or items.
std::optional<Schedule> schedule_cells(const LoweringInput& input, const Plan& plan, CellPlace cell_place);
/// Batches of one cell have no lanes.
bool may_try_simd_cells(const PlanningProblem& problem, const Plan& plan);

} // namespace rafter::schedule
