// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// Lowers a separable tensor program, with cells in lanes, in an order that keeps few arrays alive. Products along all
/// axes but the last go layer by layer. Then, for each column of the last axis, come its remaining products, the
/// coefficients, and the sum of products along the last axis. Results overwrite what they were computed from.
void lower_separable(Context& context, Statements& to);

} // namespace rafter::schedule
