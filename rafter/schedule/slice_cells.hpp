// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Schedule of a slice-wise program, layer by layer of the points along the last axis. Contractions along this axis go
/// before and after all layers, column by column. In a layer those along the axis before follow, then, line by line,
/// those along the first axis, the QFunction and the way back. Whole cells are needed between the columns and the
/// layers alone; what is at the points of a cell stands in one line at a time. Nothing where the program has another
/// contraction, other steps, or less than two axes.
std::optional<Schedule> schedule_slices(const LoweringInput& input, const Plan& plan, CellPlace cell_place);

} // namespace rafter::schedule
