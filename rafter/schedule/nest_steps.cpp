// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_steps.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

namespace rafter::schedule {

using form::ScalarOp;
using kernel::StepKind;

namespace {

NodePtr with_summand(NodePtr a, NodePtr b) {
  return a == nullptr ? std::move(b) : operation(ScalarOp::add, {std::move(a), std::move(b)});
}
void add_to_line(std::vector<NodePtr>& total, const std::vector<NodePtr>& more) {
  total.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) total[i] = with_summand(total[i], more[i]);
}
void define_all(Context& context, Halves& halves, const std::string& prefix, Statements& to) {
  for (auto* half : {&halves.even, &halves.odd})
    for (auto& value : *half) value = context.define(to, prefix, value);
  if (halves.middle != nullptr) halves.middle = context.define(to, prefix, halves.middle);
}

} // namespace

NestSteps::NestSteps(Context& context, const Schedule& schedule)
    : context_(context), program_(context.program), memories_(context, schedule), values_(context, schedule, memories_),
      stage_(context, {[this](const kernel::InputSlot& input) { return read(input.slot); },
                       [this](std::size_t i, NodePtr value, Statements& to) {
                         write(program_.output_slots[i], std::move(value), to);
                       }}) {}

void NestSteps::perform(const Do& what, Statements& to) {
  switch (what.action) {
  case Do::Action::clear:
    return each_entry(context_, what.array, values_.indices, [&](const EntryIndices& at) {
      memories_.store(what.to, what.array, at, context_.number(0), to);
    });
  case Do::Action::copy:
    return copy(what, to);
  case Do::Action::begin_integrals:
    return begin_integral(context_, to);
  case Do::Action::end_integrals:
    return end_integral(context_, to);
  case Do::Action::step:
    break;
  }
  const auto& step = program_.steps[static_cast<std::size_t>(what.step)];
  const int into = what.is_in_registers || step.target < 0 ? -1 : values_.memory_of(step.target, what.to);
  switch (step.kind) {
  case StepKind::gather:
    return read_field(step, into, to);
  case StepKind::load_nodes:
    return read_nodes(step, into, to);
  case StepKind::contract:
    return contract(step, what, to);
  case StepKind::butterfly:
    return butterflies(step, values_.memory_of(step.target, memory_in_place(what)), into, to);
  case StepKind::evaluate:
    return evaluate(to);
  case StepKind::weigh:
    return weigh(step, what, to);
  case StepKind::mask:
    return mask_field(step, into, to);
  case StepKind::scatter:
    return write_field(step, values_.memory_of(step.source, what.from), to);
  }
}

void NestSteps::copy(const Do& what, Statements& to) {
  const int from = values_.memory_of(what.array, what.from);
  const bool has_lanes_of_points = !what.is_in_registers && memories_.has_points_in_lanes(what.to);
  if (!what.is_in_registers && !has_lanes_of_points && memories_.has_points_in_lanes(from))
    return memories_.transpose(from, what.to, what.array, to);
  auto given = values_.indices;
  if (what.component >= 0) given[component_axis(program_, what.array)] = integer(what.component);
  each_entry(context_, what.array, given, [&](const EntryIndices& at) {
    if (what.is_in_registers)
      (void)values_.read(what.array, from, at, to);
    else
      memories_.store(what.to, what.array, at,
                      has_lanes_of_points && !memories_.has_points_in_lanes(from)
                          ? memories_.load_vector(from, what.array, at)
                          : values_.value(what.array, from, at),
                      to);
  });
}

// --- contractions ---------------------------------------------------------------------------------------------------

void NestSteps::contract(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& rows = family_of(step).rows;
  if (what.rows > 0) return contract_in_blocks(step, what, to);
  if (what.is_marched || gives(step.target, rows)) return contract_entries(step, what, to);
  if (context_.has_point_lanes() && program_.direction_of(step) == 0) return contract_into_lanes(step, what, to);
  contract_lines(step, what, to);
}

/// Entry by entry: the loops around give the free index, or, of what is marched, the summed one.
void NestSteps::contract_entries(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& matrix = program_.matrix_of(step);
  const int row_axis = family_of(step).rows.front(), col_axis = family_of(step).cols.front();
  const int from = values_.memory_of(step.source, what.from), into = target_memory(step, what);
  const NodePtr marched = what.is_marched ? values_.indices.at(col_axis) : nullptr;
  auto given = values_.indices;
  if (what.is_marched) given.erase(row_axis);
  each_entry(context_, step.target, given, [&](const EntryIndices& at) {
    NodePtr total;
    for (int k = 0; k < (what.is_marched ? 1 : matrix.cols); ++k) {
      const NodePtr col = what.is_marched ? marched : integer(k);
      const NodePtr factor = matrix_entry(matrix, at.at(row_axis), col);
      if (factor->kind == Kind::number && factor->value == 0) continue;
      EntryIndices of_source = at;
      of_source[col_axis] = col;
      total = with_summand(total, operation(ScalarOp::mul, {factor, values_.read(step.source, from, of_source, to)}));
    }
    if (total == nullptr) total = context_.number(0);
    if (step.accumulate && values_.is_known(step.target, at))
      values_.write(step.target, into, at, with_summand(values_.read(step.target, into, at, to), total), to);
    else if (into >= 0 && (step.accumulate || memories_.is_cleared(into, step.target)))
      values_.add(step.target, into, at, total, to);
    else
      values_.write(step.target, into, at, total, to);
  });
}

NodePtr NestSteps::matrix_entry(const kernel::ReferenceMatrix& matrix, const NodePtr& row, const NodePtr& col) {
  if (row->kind == Kind::integer && col->kind == Kind::integer)
    return context_.number(matrix(static_cast<int>(row->integer), static_cast<int>(col->integer)));
  const std::string table = context_.reals(matrix.name + "_", matrix.values);
  return context_.load(table, iadd(imul(row, integer(matrix.cols)), col));
}

/// Lines along the first reference axis whose numbers are the same in all lanes to lines that stand there.
void NestSteps::contract_into_lanes(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& matrix = program_.matrix_of(step);
  const int from = values_.memory_of(step.source, what.from);
  const auto line_to_vectors = [&](const EntryIndices& at) {
    std::vector<NodePtr> line;
    for (int k = 0; k < matrix.cols; ++k)
      line.push_back(context_.define(to, "u", memories_.load_scalar(from, step.source, at, k)));
    set_line(step, what, at, apply_into_vectors(context_, matrix, line), to);
  };
  each_entry(context_, step.target, values_.indices, line_to_vectors, family_of(step).rows);
}

/// Lines of the source, written out, to lines of the target.
void NestSteps::contract_lines(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& matrix = program_.matrix_of(step);
  const auto& family = family_of(step);
  const int from = values_.memory_of(step.source, what.from), into = target_memory(step, what);
  each_entry(
      context_, step.target, values_.indices,
      [&](const EntryIndices& at) {
        if (matrix.is_data) {
          const auto entry = [&](int k) {
            return values_.read(step.source, from, numbered(program_, at, family.cols, k), to);
          };
          // Each sum is a statement of its own, so that prefetches can be spread between them.
          product_in_text(context_, matrix, entry, [&](int row, NodePtr total) {
            values_.write(step.target, into, numbered(program_, at, family.rows, row),
                          context_.define(to, "v", std::move(total)), to);
          });
        } else if (goes_by_halves(context_, matrix))
          contract_by_halves(step, what, at, to);
        else
          set_line(step, what, at, products(context_, matrix, source_line(step, what, at, to)), to);
      },
      family.rows);
  values_.store_rest(step.target, into, to);
}

/// The line of a source by its sums and differences, which are made once.
Halves NestSteps::source_halves(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to) {
  const auto& cols = family_of(step).cols;
  if (const Halves* known = values_.halves_of(step.source, at, cols)) return *known;
  Halves halves = schedule::halves_of(context_, source_line(step, what, at, to), to);
  values_.keep_halves(step.source, at, cols, halves);
  return halves;
}

void NestSteps::contract_by_halves(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to) {
  const auto& rows = family_of(step).rows;
  const bool feeds = values_.feeds_halves(step.target, rows);
  const Halves source = source_halves(step, what, at, to);
  Halves result = apply(context_, program_.matrix_of(step), source, feeds && step.accumulate ? 0.5 : 1, to);
  if (!feeds) {
    const bool is_kept =
        values_.is_read_later(step.target) || values_.is_known(step.target, numbered(program_, at, rows, 0));
    if (values_.is_summed_later(step.target) || values_.sum_of(step.target, at, rows) != nullptr ||
        (step.accumulate && is_kept)) {
      values_.add_to_sum(step.target, at, rows, result, step.accumulate);
      return finish_sum(step, what, at, to);
    }
    return set_line(step, what, at, line_of(result), to);
  }
  if (step.accumulate) {
    const Halves before = schedule::halves_of(context_, target_line(step, what, at, to), to);
    for (std::size_t k = 0; k < result.even.size(); ++k) {
      result.even[k] = with_summand(before.even[k], result.even[k]);
      result.odd[k] = with_summand(before.odd[k], result.odd[k]);
    }
    if (result.middle != nullptr) result.middle = with_summand(before.middle, result.middle);
    define_all(context_, result, "r", to);
  }
  if (result.middle != nullptr) result.middle = context_.define(to, "v", result.middle);
  const int into = target_memory(step, what);
  if (into >= 0) {
    const auto line = line_of(result);
    for (std::size_t r = 0; r < line.size(); ++r)
      memories_.store(into, step.target, numbered(program_, at, rows, static_cast<int>(r)), line[r], to);
  }
  values_.keep_halves(step.target, at, rows, std::move(result));
}

std::vector<NodePtr> NestSteps::source_line(const kernel::Step& step, const Do& what, const EntryIndices& at,
                                            Statements& to) {
  const auto& cols = family_of(step).cols;
  const int from = values_.memory_of(step.source, what.from), size = program_.product_of_extents(cols);
  std::vector<NodePtr> line;
  for (int k = 0; k < size; ++k) line.push_back(values_.read(step.source, from, numbered(program_, at, cols, k), to));
  return line;
}
/// What a step adds to.
std::vector<NodePtr> NestSteps::target_line(const kernel::Step& step, const Do& what, const EntryIndices& at,
                                            Statements& to) {
  const auto& rows = family_of(step).rows;
  const int from = what.sum >= 0 ? what.sum : values_.memory_of(step.target, what.to),
            size = context_.product_of_indices(rows);
  std::vector<NodePtr> line;
  for (int r = 0; r < size; ++r) line.push_back(values_.read(step.target, from, numbered(program_, at, rows, r), to));
  return line;
}
int NestSteps::target_memory(const kernel::Step& step, const Do& what) const {
  return what.is_in_registers ? -1 : values_.memory_of(step.target, what.to);
}

/// Puts the result of a step where it belongs, or adds it there.
void NestSteps::set_line(const kernel::Step& step, const Do& what, const EntryIndices& at, std::vector<NodePtr> line,
                         Statements& to) {
  const auto& rows = family_of(step).rows;
  const int into = target_memory(step, what), array = step.target;
  const auto at_row = [&](std::size_t r) { return numbered(program_, at, rows, static_cast<int>(r)); };
  const bool is_kept = into < 0 || values_.is_read_later(array) || values_.is_made_later(array);
  auto* summed = values_.sum_of(array, at, rows);
  const bool begins = !step.accumulate || (summed != nullptr && !summed->has_rest);
  const bool is_alone = !is_kept && what.sum < 0 && !values_.is_known(array, at_row(0));
  if (summed != nullptr) summed->has_rest = true;
  if (!begins && is_alone) {
    for (std::size_t r = 0; r < line.size(); ++r) values_.add(array, into, at_row(r), line[r], to);
    return;
  }
  if (!begins && is_kept) {
    auto total = target_line(step, what, at, to);
    add_to_line(total, line);
    line = std::move(total);
  } else if (!begins)
    for (std::size_t r = 0; r < line.size(); ++r)
      line[r] = with_summand(line[r], values_.value(array, what.sum >= 0 ? what.sum : into, at_row(r)));
  if (is_kept) // all before the first one is stored
    for (auto& value : line) value = context_.define(to, "v", std::move(value));
  for (std::size_t r = 0; r < line.size(); ++r) values_.write(array, into, at_row(r), line[r], to);
  finish_sum(step, what, at, to);
}

/// Ends a sum of products by halves: where no more is added, its halves are put together.
void NestSteps::finish_sum(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to) {
  const auto& rows = family_of(step).rows;
  auto* summed = values_.sum_of(step.target, at, rows);
  if (summed == nullptr || values_.is_summed_later(step.target)) return;
  Halves halves = summed->halves;
  const bool has_rest = summed->has_rest;
  define_all(context_, halves, "h", to);
  std::vector<NodePtr> line;
  if (has_rest) line = target_line(step, what, at, to);
  add_to_line(line, line_of(halves));
  values_.end_sum(step.target, at, rows);
  for (std::size_t r = 0; r < line.size(); ++r)
    values_.write(step.target, target_memory(step, what), numbered(program_, at, rows, static_cast<int>(r)), line[r],
                  to);
}

/// A table in memory: blocks of its rows are summed at the same time, for all sub-batches of the pass.
void NestSteps::contract_in_blocks(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& family = family_of(step);
  const int from = values_.memory_of(step.source, what.from), into = values_.memory_of(step.target, what.to);
  const BlockedProduct product{
      .matrix = program_.matrix_of(step),
      .table = context_.global(role::matrix, family.members.front()),
      .rows = what.rows,
      .source = memories_.name(from),
      .first_source = memories_.entry(from, step.source, numbered(program_, values_.indices, family.cols, 0)),
      .target = memories_.name(into),
      .first_target = memories_.entry(into, step.target, numbered(program_, values_.indices, family.rows, 0))};
  product_in_blocks(context_, product, to);
}

void NestSteps::butterflies(const kernel::Step& step, int from, int into, Statements& to) {
  const int array = step.target;
  if (is_of_whole_cell(array)) return butterfly(context_, step, memories_.name(into), to);
  const auto& folding = program_.foldings[static_cast<std::size_t>(step.field)];
  const std::span axes = std::span(program_.array(array).axes).subspan(1);
  const int of_group = static_cast<int>(folding.places.size());
  for (int first = 0; first < program_.num_entries(array); first += of_group)
    each_orbit(folding, [&](std::span<const int> places) {
      std::vector<NodePtr> exchanged;
      const auto at = [&](int place) { return numbered(program_, values_.indices, axes, first + place); };
      for (const int place : places) exchanged.push_back(values_.read(array, from, at(place), to));
      const auto results = butterfly_of(context_, exchanged, to);
      for (std::size_t k = 0; k < places.size(); ++k) values_.write(array, into, at(places[k]), results[k], to);
    });
  values_.store_rest(array, into, to);
}

void NestSteps::weigh(const kernel::Step& step, const Do& what, Statements& to) {
  const int from = values_.memory_of(step.target, memory_in_place(what)), into = target_memory(step, what);
  const std::string weights = context_.global(role::weights);
  each_entry(context_, step.target, values_.indices, [&](const EntryIndices& at) {
    const NodePtr weight = context_.fetch(weights, number_in_cell(context_, step.target, at));
    const NodePtr weighed = operation(ScalarOp::mul, {weight, values_.value(step.target, from, at)});
    if (into >= 0 && memories_.is_cleared(into, step.target))
      memories_.store(into, step.target, at, weighed, to); // and does not add
    else
      values_.write(step.target, into, at, weighed, to);
  });
}

// --- the QFunction --------------------------------------------------------------------------------------------------

/// At the point that the loops around give, or at all of a line that they leave open.
void NestSteps::evaluate(Statements& to) {
  const auto given = values_.indices;
  const std::function<void(std::size_t)> open = [&](std::size_t i) {
    if (i == program_.point_axes.size()) {
      PointStage at_point = stage_;
      return at_point.at_point(to);
    }
    const int axis = program_.point_axes[i];
    if (given.contains(axis)) return open(i + 1);
    for (int k = 0; k < context_.num_indices(axis); ++k) {
      values_.indices[axis] = integer(k);
      open(i + 1);
    }
  };
  open(0);
  values_.indices = given;
}

EntryIndices NestSteps::indices_of(const kernel::Slot& slot) const {
  EntryIndices at = values_.indices;
  const auto& axes = program_.array(slot.array).axes;
  at[axes.front()] = integer(slot.component);
  for (const int axis : axes)
    if (program_.axes[static_cast<std::size_t>(axis)].kind == kernel::AxisKind::slot) at[axis] = integer(slot.slot);
  return at;
}
NodePtr NestSteps::read(const kernel::Slot& slot) const {
  return values_.value(slot.array, values_.memory_of(slot.array, -1), indices_of(slot));
}
void NestSteps::write(const kernel::Slot& slot, NodePtr value, Statements& to) {
  const int into = values_.memory_of(slot.array, -1);
  if (into >= 0 && memories_.is_cleared(into, slot.array))
    values_.add(slot.array, into, indices_of(slot), std::move(value), to);
  else
    values_.write(slot.array, into, indices_of(slot), std::move(value), to);
}

} // namespace rafter::schedule
