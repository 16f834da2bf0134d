// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/context.hpp>

/// Groups take several batches, in an order that is decided here.
namespace rafter::schedule {

/// The program around the statements of a batch, for cells in items or in the lanes of an item: several batches side by
/// side or one after the other, or a chunk of batches where key::scatter says that no other group may meet its
/// unknowns.
LoopProgram in_groups(Context& context, Statements of_batch);

/// Says whether items of a group hold the cells of several batches side by side.
bool takes_batches_side_by_side(const Context& context);

/// The body of a program whose groups take several batches at the same time from `first` on, one for each number of an
/// item along the second axis: `of_batch`, in which the batch is variable("own_batch"), for those that the run has.
NodePtr side_by_side(NodePtr of_batch, const NodePtr& first = variable("batch"));
/// The body of a program whose groups take `most` batches at most, one after the other.
NodePtr one_by_one(NodePtr of_batch, int most);

} // namespace rafter::schedule
