// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

/// The cells of a group whose items hold points.
namespace rafter::schedule {

namespace key {
/// Most cells that a group computes at a time, where points stand in its items.
extern const KeyOf<int> cells;
} // namespace key

/// Says whether points of a program can stand in items today: it is on a grid, with dofs of whole cells and test
/// functions alone, on cells of blocks, and adds in any order or not at all.
bool can_have_points_in_items(const LoweringInput& input, const Plan& plan);

/// Gives a schedule as many cells at a time as the plan, the batch, 256 items and the shared memory of the target
/// allow. Says whether one fits.
bool take_cells(Schedule& schedule, const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
