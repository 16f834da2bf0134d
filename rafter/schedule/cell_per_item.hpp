// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// Mapping `cell_per_item`: each item of a group holds a cell. It is the lowering of simd_cells with the items of a
/// group in the place of the lanes, so that work arrays are memory of the item. Output vectors are always added to; who
/// wants them overwritten clears them before. It accepts every kernel: actions, functionals (one sum per cell), set-up,
/// cell matrices and transfers, on blocks and lists of cells.
///
/// With Scatter::atomic a group takes several batches, one for each number of an item along the second axis; a run may
/// cover any batches. With Scatter::coloured one group takes all batches of a run, one after the other, and its items
/// add in the order of the cells; runs at the same time share no unknown. Kernels that add to no vector have groups of
/// several batches in either case.
bool accepts_cell_per_item(const LoweringInput& input, const Plan& plan);
LoopProgram lower_cell_per_item(const LoweringInput& input, const Plan& plan);

/// The body of a program whose groups take `batches` batches at the same time, one for each number of an item along the
/// second axis: `of_batch`, in which the batch is variable("own_batch"), for those that the run has.
NodePtr side_by_side(NodePtr of_batch);

} // namespace rafter::schedule
