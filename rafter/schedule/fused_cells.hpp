// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// True for tensor programs on quadrilaterals and hexahedra whose fields are all evaluated by collocation.
bool can_fuse(const kernel::TensorProgram& program);

/// The steps of a collocated tensor program in an order that keeps few arrays alive: interpolation layer by layer and
/// column by column; then, per layer of the slowest axis, derivatives, QFunction and transposed derivatives line
/// by line; results overwrite what they were computed from. Two arrays of all points live per field instead of one per
/// slot.
void lower_fused(Context& context, Statements& to);

/// The same for one cell of a group after the other, with points along the first axis in the lanes: contractions along
/// that axis are sums of columns, the others those of lines whose entries are vectors of points. Fields are gathered
/// and scattered with cells in the lanes, as `context` begins and ends.
void lower_fused_points(Context& context, Statements& to);

} // namespace rafter::schedule
