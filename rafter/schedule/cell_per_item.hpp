// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// Mapping `cell_per_item`: the lowering of simd_cells for devices that run groups of items. With Plan::vector_width 1
/// each item holds a cell: items stand in the place of the lanes, and work arrays are memory of the item. With more,
/// lanes stay lanes, those of the only item of a group, as processors compute. It accepts every kernel: actions,
/// functionals (one sum per cell), set-up, cell matrices and transfers, on blocks and lists of cells.
///
/// With Scatter::atomic and two_pass a group takes several batches, one for each number of an item along the second
/// axis, or with lanes one after the other; a run may cover any batches. With Scatter::coloured a group takes a chunk
/// of batches, one after the other: role::chunk_bounds holds two numbers for each, and a run covers entries of this
/// table instead of batches; chunks of a run share no unknown. Lanes then store what they are the first to touch, as on
/// the host; items add in the order of the cells. Kernels that add to no vector have groups of several batches in
/// either case.
bool accepts_cell_per_item(const LoweringInput& input, const Plan& plan);
LoopProgram lower_cell_per_item(const LoweringInput& input, const Plan& plan);

/// The body of a program whose groups take `batches` batches at the same time, one for each number of an item along the
/// second axis: `of_batch`, in which the batch is variable("own_batch"), for those that the run has.
NodePtr side_by_side(NodePtr of_batch);
/// The body of a program whose groups take `most` batches at most, one after the other.
NodePtr one_by_one(NodePtr of_batch, int most);

} // namespace rafter::schedule
