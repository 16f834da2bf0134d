// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// Says whether a program works on a grid in two or three dimensions with as many dofs, and as many points, along each
/// axis.
bool has_equal_extents(const kernel::TensorProgram& program);

/// Says whether the steps can be fused: programs on quadrilaterals and hexahedra whose fields are all evaluated by
/// collocation.
bool can_fuse(const kernel::TensorProgram& program);

/// Lowers a collocated tensor program in an order that keeps few arrays alive. Interpolation goes layer by layer, then
/// column by column; then, for each layer of the slowest axis, derivatives, QFunction and transposed derivatives go
/// line by line. Results overwrite what they were computed from. Two arrays of all points are needed per field instead
/// of one per slot.
void lower_fused(Context& context, Statements& to);

/// Lowers the same program for one cell of a SIMD group after the other, with points along the first axis in the lanes:
/// contractions along that axis are sums of matrix columns, others act on lines whose entries are vectors of points.
/// Gather and scatter keep cells in the lanes.
void lower_fused_points(Context& context, Statements& to);

} // namespace rafter::schedule
