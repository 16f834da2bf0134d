// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_steps.hpp>

#include <rafter/base/error.hpp>

/// Contractions in nests go entry by entry where the loops around give the free index, else by whole lines, and by
/// blocks of rows where tables stand in memory.
namespace rafter::schedule {

using form::ScalarOp;

namespace {

NodePtr with_summand(NodePtr a, NodePtr b) {
  return a == nullptr ? std::move(b) : operation(ScalarOp::add, {std::move(a), std::move(b)});
}
bool is_number(const NodePtr& node, double value) { return node->kind == Kind::number && node->value == value; }
/// The product of two values, null where one of them is known to be 0.
NodePtr product_of(const NodePtr& a, const NodePtr& b) {
  if (is_number(a, 0) || is_number(b, 0)) return nullptr;
  if (is_number(a, 1)) return b;
  return is_number(b, 1) ? a : operation(ScalarOp::mul, {a, b});
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

void NestSteps::contract(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& rows = family_of(step).rows;
  if (what.rows > 0) return contract_in_blocks(step, what, to);
  if (!family_of(step).index.empty()) throw base::InternalError("matrices by facet are no numbers of the text");
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
    put_sum(step, into, at, std::move(total), to);
  });
}

/// Sets an entry to a sum, or adds the sum to it.
void NestSteps::put_sum(const kernel::Step& step, int into, const EntryIndices& at, NodePtr total, Statements& to) {
  if (step.accumulate && values_.is_known(step.target, at))
    values_.write(step.target, into, at, with_summand(values_.read(step.target, into, at, to), std::move(total)), to);
  else if (into >= 0 && (step.accumulate || memories_.is_cleared(into, step.target)))
    values_.add(step.target, into, at, std::move(total), to);
  else
    values_.write(step.target, into, at, std::move(total), to);
}

// --- products of arrays ---------------------------------------------------------------------------------------------

/// Entry by entry. Summed indices that no loop gives are written out.
void NestSteps::multiply(const kernel::Step& step, const Do& what, Statements& to) {
  const auto& product = program_.product_of(step);
  const int into = target_memory(step, what);
  auto summed = program_.summed_axes(step);
  std::erase_if(summed, [this](int axis) { return values_.indices.contains(axis); });
  const int num_summed = program_.product_of_extents(summed);
  each_entry(context_, step.target, values_.indices, [&](const EntryIndices& at) {
    if (is_unread(step.target, at)) return;
    const auto component = static_cast<int>(at.at(component_axis(program_, step.target))->integer);
    NodePtr total;
    for (int number = 0; number < num_summed; ++number) {
      const auto of_operands = numbered(program_, at, summed, number);
      for (const auto& term : product.terms) {
        if (term.target != component) continue;
        const NodePtr a = operand(step.source, term.source, product.source_axes, of_operands, to),
                      b = operand(product.factor, term.factor, product.factor_axes, of_operands, to);
        if (NodePtr value = product_of(a, b); value != nullptr) total = with_summand(total, std::move(value));
      }
    }
    if (total == nullptr && (step.accumulate || what.is_marched)) return;
    put_sum(step, into, at, total == nullptr ? context_.number(0) : std::move(total), to);
  });
  values_.store_rest(step.target, into, to);
}

/// The entry of an array whose indices are those along the axes of a product.
NodePtr NestSteps::operand(int array, int component, const std::vector<int>& axes, const EntryIndices& at,
                           Statements& to) {
  const auto& of = program_.array(array);
  EntryIndices entry;
  entry[of.axes.front()] = integer(component);
  for (std::size_t i = 0; i < axes.size(); ++i) entry[of.axes[i + 1]] = at.at(axes[i]);
  if (of.table < 0) return values_.read(array, values_.memory_of(array, -1), entry, to);
  NodePtr col = integer(0);
  for (const int axis : std::span(of.axes).subspan(1))
    col = iadd(imul(col, integer(program_.extent(axis))), entry.at(axis));
  return matrix_entry(program_.matrices[static_cast<std::size_t>(of.table)], integer(component), col);
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
  const auto& matrix = program_.matrix_of(step);
  const int from = values_.memory_of(step.source, what.from), into = values_.memory_of(step.target, what.to);
  const BlockedProduct product{
      .matrix = matrix,
      .table = context_.global(role::matrix, family.members.front()),
      .first_entry =
          family.index.empty() ? integer(0) : context_.facet_entry(integer(0), packed_size(matrix, context_.plan)),
      .rows = what.rows,
      .source = memories_.name(from),
      .first_source = memories_.entry(from, step.source, numbered(program_, values_.indices, family.cols, 0)),
      .target = memories_.name(into),
      .first_target = memories_.entry(into, step.target, numbered(program_, values_.indices, family.rows, 0))};
  product_in_blocks(context_, product, to);
}

} // namespace rafter::schedule
