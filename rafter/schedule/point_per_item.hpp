// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `point_per_item`: every step of the program is a stage whose results stand in the items of a group, in as
/// many turns as they need, and arrays in shared memory, in turn. What the QFunction alone reads stays in registers of
/// the point; steps that add to one array are one stage. It takes actions on grids of points.
std::optional<Schedule> schedule_point_per_item(const LoweringInput& input, const Plan& plan);
std::span<const Key* const> keys_of_point_per_item();

} // namespace rafter::schedule
