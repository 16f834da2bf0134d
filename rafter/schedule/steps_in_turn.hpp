// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// The steps of a program one after the other, each array in memory of its own. Products with tables in memory take all
/// sub-batches of a pass together, everything else one after the other. Where cells stand in the lanes of a host,
/// products with tables in the text stay together with the steps around them that are for the same components: what one
/// of these makes for the next stays in registers.
Schedule steps_in_turn(const kernel::TensorProgram& program, const Plan& plan, CellPlace cell_place, int subbatches);

} // namespace rafter::schedule
