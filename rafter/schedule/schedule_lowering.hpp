// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// The loop program of a schedule: loops, accesses, contractions and the QFunction as the schedule says, barriers where
/// it follows that they are needed, guards around what surplus items and absent cells would do.
LoopProgram lower(const LoweringInput& input, const Plan& plan, const Schedule& schedule);

} // namespace rafter::schedule
