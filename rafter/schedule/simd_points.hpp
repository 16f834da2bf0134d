// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `simd_points`: one cell after the other, with its points along the first axis of the grid in the lanes of
/// SIMD registers. With 8 lanes the arrays of a kernel are an eighth of those of `simd_cells`, but contractions along
/// the first axis cannot use even-odd symmetry. It takes collocated actions on quadrilaterals and hexahedra and
/// declines all else.
std::optional<Schedule> schedule_simd_points(const LoweringInput& input, const Plan& plan);
/// Points in lanes do more operations on an eighth of the arrays: where those are large, on grids whose lines fill
/// registers to three quarters.
bool may_try_simd_points(const PlanningProblem& problem, const Plan& plan);

} // namespace rafter::schedule
