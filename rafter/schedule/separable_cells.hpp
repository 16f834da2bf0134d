// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Schedule of a separable program in an order that keeps few arrays alive. Products along all axes but the last go
/// layer by layer. Then, for each column of the last axis, come its remaining products, the coefficients, and the sum
/// of products along the last axis. Results overwrite what they were computed from.
Schedule schedule_separable(const kernel::TensorProgram& program, const Plan& plan, CellPlace cell_place);

} // namespace rafter::schedule
