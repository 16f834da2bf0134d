// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/cell_per_item.hpp>

#include <algorithm>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

namespace {

/// Devices that run on a processor keep the work arrays of all items of a group on the stack of a thread.
constexpr double most_work_bytes = 1 << 19;

/// A plan without what only lanes of a host have.
Plan for_items(Plan plan) {
  plan.prefetch = plan.is_streaming = plan.has_patches = plan.has_dof_lists = plan.gathers_by_lane = false;
  plan.subbatches = 1;
  return plan;
}

/// The batches of a group side by side. The last group of a run may have fewer.
LoopProgram in_groups(Context& context, Statements of_batch) {
  const int cells = context.input.cells_per_batch;
  const double that_fit = most_work_bytes / std::max(1.0, cells * work_bytes(context.result)),
               that_fill = static_cast<double>(context.input.target.items_in_step) / cells;
  const int batches = std::max(1, static_cast<int>(std::min(that_fit, that_fill)));
  context.result.launch = {.items = {cells, batches, 1}, .batches = batches};
  context.result.body = side_by_side(block(context.with_data_row(std::move(of_batch))));
  return std::move(context.result);
}

/// All batches of the run in one group, one after the other.
LoopProgram one_by_one(Context& context, Statements of_batch) {
  context.result.launch = {.items = {context.input.cells_per_batch, 1, 1}, .batches = Launch::all_batches};
  const NodePtr count = iadd(isub(variable("last_batch"), variable("batch")), integer(1));
  Statements body{ilet(context.batch()->name, iadd(variable("batch"), variable("number")))};
  body.push_back(block(context.with_data_row(std::move(of_batch))));
  context.result.body = block({loop("number", count, block(std::move(body)))});
  return std::move(context.result);
}

bool adds_to_vectors(const kernel::TensorProgram& program) {
  return std::ranges::any_of(program.outputs,
                             [](const kernel::FieldUse& output) { return output.trial_element == nullptr; });
}

} // namespace

NodePtr side_by_side(NodePtr of_batch) {
  const NodePtr is_there = ilt(variable("own_batch"), iadd(variable("last_batch"), integer(1)));
  return block({ilet("own_batch", iadd(variable("batch"), item(1))), branch(is_there, std::move(of_batch), block({}))});
}

bool accepts_cell_per_item(const LoweringInput& input, const Plan&) {
  return input.target.has_groups && input.cells_per_batch <= most_items;
}

LoopProgram lower_cell_per_item(const LoweringInput& input, const Plan& plan) {
  const Plan of_items = for_items(plan);
  Context context(input, of_items, LaneAxis::item);
  Statements of_batch;
  lower_cells(context, of_batch);
  return plan.scatter == Scatter::coloured && adds_to_vectors(*input.program) ? one_by_one(context, std::move(of_batch))
                                                                              : in_groups(context, std::move(of_batch));
}

} // namespace rafter::schedule
