// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Schedule of a collocated program in an order that keeps few arrays alive. Interpolation goes layer by layer, then
/// column by column; then, for each layer of the last axis, derivatives, QFunction and transposed derivatives go line
/// by line. Results overwrite what they were computed from. Two arrays of all points are needed per field instead of
/// one per slot.
Schedule schedule_fused(const LoweringInput& input, const Plan& plan, CellPlace cell_place,
                        const CollocatedStages& stages);

/// The same for one cell of a sub-batch after the other, with points along the first axis in the lanes: contractions
/// along that axis are sums of matrix columns, others act on lines whose entries are vectors of points. Dofs are read
/// and written with cells in the lanes.
Schedule schedule_fused_points(const LoweringInput& input, const Plan& plan, const CollocatedStages& stages);

/// Says whether the loop over the points of a line is written out: where the QFunction is short, so that the line stays
/// in registers. `points_in_lanes`: number of lanes where points stand there; 0: cells do.
bool has_unrolled_lines(const LoweringInput& input, const Plan& plan, CellPlace cell_place, int points_in_lanes);

} // namespace rafter::schedule
