// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `plain`: one cell after the other, one step after the other, scalars only. It takes every kernel where
/// batches run in order, and is the reference for the other mappings.
std::optional<Schedule> schedule_plain(const LoweringInput& input, const Plan& plan);
/// It is the way out of the other mappings, never ahead of them: for batches of one cell.
bool may_try_plain(const PlanningProblem& problem, const Plan& plan);

} // namespace rafter::schedule
