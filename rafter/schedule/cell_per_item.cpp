// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/cell_per_item.hpp>

#include <algorithm>

#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

namespace {

constexpr int items_per_group =
    32; ///< number of items that run in step on most devices, where batches hold fewer cells

/// A plan without what only lanes of a host have.
Plan for_items(Plan plan) {
  plan.prefetch = plan.is_streaming = plan.has_patches = plan.has_dof_lists = plan.gathers_by_lane = false;
  plan.subbatches = 1;
  return plan;
}

/// The batches of a group side by side. The last group of a run may have fewer.
LoopProgram side_by_side(Context& context, Statements of_batch) {
  const int cells = context.input.cells_per_batch;
  const int batches = std::max(1, items_per_group / cells);
  context.result.launch = {.items = {cells, batches, 1}, .batches = batches};
  const NodePtr is_there = ilt(context.batch(), iadd(variable("last_batch"), integer(1)));
  context.result.body = block({ilet(context.batch()->name, iadd(variable("batch"), item(1))),
                               branch(is_there, block(context.with_data_row(std::move(of_batch))), block({}))});
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

} // namespace

bool accepts_cell_per_item(const LoweringInput& input, const Plan&) {
  const auto adds_to_vector = [](const kernel::FieldUse& output) { return output.trial_element == nullptr; };
  return input.has_groups && input.cells_per_batch <= most_items && !input.program->outputs.empty() &&
         std::ranges::all_of(input.program->outputs, adds_to_vector);
}

LoopProgram lower_cell_per_item(const LoweringInput& input, const Plan& plan) {
  const Plan of_items = for_items(plan);
  Context context(input, of_items, LaneAxis::item);
  Statements of_batch;
  lower_cells(context, of_batch);
  return plan.scatter == Scatter::atomic ? side_by_side(context, std::move(of_batch))
                                         : one_by_one(context, std::move(of_batch));
}

} // namespace rafter::schedule
