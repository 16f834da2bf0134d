// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/group_batches.hpp>

#include <algorithm>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/counts.hpp>

namespace rafter::schedule {

namespace {

/// Items for the cells of a batch: one for each, or one whose lanes hold them.
int items_of_batch(const Context& context) { return context.has_items() ? context.cells_per_batch() : 1; }

/// `of_batch` for so many batches from `first` on, one after the other.
NodePtr in_turn(const NodePtr& first, NodePtr count, NodePtr of_batch) {
  return loop("number", std::move(count),
              block({ilet("own_batch", iadd(first, variable("number"))), std::move(of_batch)}));
}

/// The batches of a group side by side. The last group of a run may have fewer.
LoopProgram with_batches_in_items(Context& context, Statements of_batch) {
  const int cells = context.cells_per_batch();
  const auto& target = context.input.target;
  // Groups of a processor are what runs in step. A graphics processor hides latencies by what else a compute unit
  // holds, which takes few groups: those of one warp would fill half of an NVIDIA multiprocessor.
  constexpr int items_of_group = 128;
  const int items =
      target.is_processor ? target.items_in_step : std::clamp(items_of_group, target.items_in_step, target.most_items);
  double count = static_cast<double>(items) / cells;
  if (target.most_group_work_bytes > 0)
    count = std::min(count, static_cast<double>(target.most_group_work_bytes) /
                                std::max(1.0, cells * work_bytes(context.result)));
  const int batches = std::max(1, static_cast<int>(count));
  context.result.launch = {.items = {cells, batches, 1}, .batches = batches};
  context.result.body = side_by_side(block(std::move(of_batch)));
  return std::move(context.result);
}

/// The batches of a group one after the other: enough that the begin of a group does not show beside them.
LoopProgram with_batches_in_turn(Context& context, Statements of_batch) {
  constexpr int batches = 16;
  context.result.launch = {.items = {items_of_batch(context), 1, 1}, .batches = batches};
  context.result.body = one_by_one(block(std::move(of_batch)), batches);
  return std::move(context.result);
}

/// A chunk in each group, its batches one after the other: a run covers entries of the table of their bounds.
LoopProgram with_chunks(Context& context, Statements of_batch) {
  constexpr int bounds_of_chunk = 2;
  context.result.launch = {.items = {items_of_batch(context), 1, 1}, .batches = bounds_of_chunk};
  const auto bounds = context.global(role::chunk_bounds, 0, Type::integer);
  const NodePtr place = variable("batch"), first = variable("first");
  NodePtr count = isub(iload(bounds, iadd(place, integer(1))), first);
  context.result.body =
      block({ilet("first", iload(bounds, place)), in_turn(first, std::move(count), block(std::move(of_batch)))});
  return std::move(context.result);
}

bool adds_to_vectors(const kernel::TensorProgram& program) {
  return std::ranges::any_of(program.outputs,
                             [](const kernel::FieldUse& output) { return output.trial_element == nullptr; });
}

} // namespace

NodePtr one_by_one(NodePtr of_batch, int most) {
  const NodePtr first = variable("batch"), rest = iadd(isub(variable("last_batch"), first), integer(1));
  return block({in_turn(first, imin(rest, integer(most)), std::move(of_batch))});
}

NodePtr side_by_side(NodePtr of_batch) {
  const NodePtr is_there = ilt(variable("own_batch"), iadd(variable("last_batch"), integer(1)));
  return block({ilet("own_batch", iadd(variable("batch"), item(1))), branch(is_there, std::move(of_batch), block({}))});
}

LoopProgram in_groups(Context& context, Statements of_batch) {
  if (!may_run_in_any_order(context.way) && adds_to_vectors(context.program))
    return with_chunks(context, std::move(of_batch));
  return context.has_items() ? with_batches_in_items(context, std::move(of_batch))
                             : with_batches_in_turn(context, std::move(of_batch));
}

} // namespace rafter::schedule
