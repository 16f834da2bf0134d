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

/// Gives a schedule as many cells at a time as the plan, the batch, 256 items and the shared memory of the target
/// allow. Says whether one fits.
bool take_cells(Schedule& schedule, const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
