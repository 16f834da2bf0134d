// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Mapping `slab`: the items of a cell hold one point each of a layer of the grid, and march along the last axis with a
/// fibre of values in registers. Derivatives along the other axes go through one layer of shared memory. It takes
/// collocated actions on quadrilaterals and hexahedra and declines all else.
std::optional<Schedule> schedule_slab(const LoweringInput& input, const Plan& plan);
std::span<const Key* const> keys_of_slab();

} // namespace rafter::schedule
