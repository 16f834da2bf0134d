// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// The steps of a separable tensor program in an order that keeps few arrays alive: products along all axes but the
/// last, layer by layer; then, column by column of the last axis, what is left of them, the coefficients and the sum of
/// the products along that axis. Results take the places of what they were computed from. Cells in lanes.
void lower_separable(Context& context, Statements& to);

} // namespace rafter::schedule
