// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/group_batches.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/item_keys.hpp>

namespace rafter::schedule {

namespace {

/// Items for the cells of a batch: one for each, or one whose lanes hold them.
int items_of_batch(const Context& context) { return context.has_items() ? context.cells_per_batch() : 1; }

/// `of_batch` for so many batches from `first` on, one after the other.
NodePtr in_turn(const NodePtr& first, NodePtr count, NodePtr of_batch) {
  return loop("number", std::move(count),
              block({ilet("own_batch", iadd(first, variable("number"))), std::move(of_batch)}));
}

/// Bytes of the memory of a group that an item has for itself: its parts of what the group shares.
double shared_bytes_of_item(const LoopProgram& program) {
  double bytes = 0;
  for (const auto& buffer : program.buffers)
    if (buffer.space == Space::shared) bytes += static_cast<double>(buffer.size) * size_bytes(buffer.type);
  return bytes;
}

/// Items for which the memory of a group suffices, that of its items and what these share.
double most_items_by_memory(const Context& context) {
  constexpr std::int64_t usual_shared_bytes = std::int64_t{32} << 10; // what every device of today has
  const auto& target = context.input.target;
  double result = target.most_items;
  const auto limit = [&](std::int64_t bytes, double of_item) {
    result = std::min(result, static_cast<double>(bytes) / std::max(1.0, of_item));
  };
  limit(target.shared_bytes > 0 ? target.shared_bytes : usual_shared_bytes, shared_bytes_of_item(context.result));
  if (target.most_group_work_bytes > 0) limit(target.most_group_work_bytes, work_bytes(context.result));
  return result;
}

/// The batches that a group computes at a time, if no plan says how many items it has.
int usual_batches(const Context& context) {
  const auto& target = context.input.target;
  // Groups of a processor are what runs in step. A graphics processor hides latencies by what else a compute unit
  // holds, which takes few groups: those of one warp would fill half of an NVIDIA multiprocessor.
  constexpr int items_of_group = 128;
  const double items =
      target.is_processor ? target.items_in_step : std::clamp(items_of_group, target.items_in_step, target.most_items);
  return std::max(1, static_cast<int>(std::min(items, most_items_by_memory(context)) / context.cells_per_batch()));
}

/// The batches of a group that a plan asks for. Throws InputError where groups of the device cannot be so.
int batches_at_a_time(const Context& context) {
  const int cells = context.cells_per_batch(), asked = context.plan[key::work_group];
  const int batches = asked > 0 ? asked / cells : usual_batches(context);
  if (asked % cells != 0)
    throw base::InputError(fmt::format("plan: work_group={} is no multiple of {}, the cells of a batch", asked, cells));
  if (asked > context.input.target.most_items)
    throw base::InputError(fmt::format("plan: work_group={}, but groups of the device have at most {} items", asked,
                                       context.input.target.most_items));
  const double most = most_items_by_memory(context);
  if ((asked > 0 || shared_bytes_of_item(context.result) > 0) && batches * cells > most)
    throw base::InputError(fmt::format(
        "plan: workspace={} work_group={}: each item takes {:.0f} bytes for itself and {:.0f} of the memory that the "
        "group shares, which suffices for {} items on the device, and not for {}",
        key::workspace.text(context.plan), key::work_group.text(context.plan), work_bytes(context.result),
        shared_bytes_of_item(context.result), static_cast<int>(most), batches * cells));
  if (batches * context.plan[key::cells_per_item] > most_items)
    throw base::InputError(fmt::format("plan: cells_per_item={} with groups of {} batches; a group takes at most {}",
                                       context.plan[key::cells_per_item], batches, most_items));
  return batches;
}

/// Copies of what a group reads of the cells of its batches from `first` on to shared memory, each number by the item
/// behind that which copies the number before. Batches that the run has not repeat the last one.
NodePtr copies_of_group(Context& context, const NodePtr& first, int batches) {
  const int cells = context.cells_per_batch();
  Statements result;
  for (const auto& numbers : context.staged) {
    const int size = static_cast<int>(context.result.find(numbers.name)->size);
    const NodePtr i = variable(context.fresh("i"));
    Statements of_number;
    const auto named = [&](const char* prefix, NodePtr value) {
      return context.define_integer(of_number, prefix, std::move(value));
    };
    const NodePtr number = named("n", iadd(imul(i, integer(std::int64_t{batches} * cells)), variable(own_item))),
                  item = named("c", idiv(number, numbers.count)), batch = named("b", idiv(item, cells));
    const NodePtr of_item = isub(number, imul(item, integer(numbers.count))),
                  of_batch = isub(item, imul(batch, integer(cells)));
    const NodePtr row =
        iload(context.global(role::data_rows, 0, Type::integer), imin(iadd(first, batch), variable("last_batch")));
    const NodePtr cell = named("d", iadd(imul(row, integer(cells)), of_batch));
    of_number.push_back(store(numbers.name, iadd(imul(item, integer(size)), of_item),
                              context.fetch(context.global(numbers.role), iadd(imul(cell, numbers.stride), of_item))));
    result.push_back(loop(i->name, integer(numbers.count), block(std::move(of_number))));
  }
  return block(std::move(result));
}

/// The batches of a group side by side, or so many of them one after the other. The last group of a run may have fewer.
LoopProgram with_batches_in_items(Context& context, Statements of_batch) {
  const int batches = batches_at_a_time(context), turns = context.plan[key::cells_per_item];
  context.result.launch = {.items = {context.cells_per_batch(), batches, 1}, .batches = batches * turns};
  const NodePtr begin = variable("batch"), first = turns == 1 ? begin : variable("first");
  NodePtr of_turn = side_by_side(block(std::move(of_batch)), first);
  if (!context.staged.empty()) of_turn = block({copies_of_group(context, first, batches), barrier(), of_turn});
  if (turns > 1) {
    Statements in_loop{ilet("first", iadd(begin, imul(variable("number"), integer(batches))))};
    if (!context.staged.empty()) in_loop.push_back(barrier()); // Items still read what was copied before.
    in_loop.push_back(std::move(of_turn));
    const NodePtr left = idiv(iadd(isub(variable("last_batch"), begin), integer(batches)), batches);
    of_turn = block({loop("number", imin(left, integer(turns)), block(std::move(in_loop)))});
  }
  context.result.body = std::move(of_turn);
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
bool has_chunks(const Context& context) {
  return !may_run_in_any_order(context.way) && adds_to_vectors(context.program);
}

} // namespace

NodePtr one_by_one(NodePtr of_batch, int most) {
  const NodePtr first = variable("batch"), rest = iadd(isub(variable("last_batch"), first), integer(1));
  return block({in_turn(first, imin(rest, integer(most)), std::move(of_batch))});
}

NodePtr side_by_side(NodePtr of_batch, const NodePtr& first) {
  const NodePtr is_there = ilt(variable("own_batch"), iadd(variable("last_batch"), integer(1)));
  return block({ilet("own_batch", iadd(first, item(1))), branch(is_there, std::move(of_batch), block({}))});
}

bool takes_batches_side_by_side(const Context& context) { return context.has_items() && !has_chunks(context); }

LoopProgram in_groups(Context& context, Statements of_batch) {
  auto result = has_chunks(context)                   ? with_chunks(context, std::move(of_batch))
                : takes_batches_side_by_side(context) ? with_batches_in_items(context, std::move(of_batch))
                                                      : with_batches_in_turn(context, std::move(of_batch));
  bool has_parts = false; // Each item has its own of what the group shares.
  for (auto& buffer : result.buffers)
    if (buffer.space == Space::shared) {
      buffer.size *= result.launch.num_items();
      has_parts = true;
    }
  if (has_parts) {
    const NodePtr number = iadd(imul(item(1), integer(context.cells_per_batch())), item(0));
    result.body = block({ilet(own_item, number), result.body});
  }
  return result;
}

} // namespace rafter::schedule
