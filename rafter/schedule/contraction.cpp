// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

namespace {

using form::ScalarOp;
using kernel::ReferenceMatrix;
using kernel::Symmetry;

NodePtr plus(NodePtr a, NodePtr b) { return operation(ScalarOp::add, {std::move(a), std::move(b)}); }
NodePtr minus(NodePtr a, NodePtr b) { return operation(ScalarOp::sub, {std::move(a), std::move(b)}); }

/// sum_k coefficients[k] * line[k] without the zeros.
NodePtr combination(const std::vector<double>& coefficients, const std::vector<NodePtr>& line) {
  NodePtr sum;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (coefficients[k] == 0) continue;
    NodePtr term = operation(ScalarOp::mul, {number(coefficients[k]), line[k]});
    sum = sum == nullptr ? term : plus(sum, term);
  }
  return sum == nullptr ? number(0) : sum;
}

std::vector<NodePtr> apply_by_halves(Context& context, const ReferenceMatrix& matrix, const std::vector<NodePtr>& line,
                                     Statements& to) {
  const int rows = matrix.rows, cols = matrix.cols, half = cols / 2;
  std::vector<NodePtr> even, odd;
  for (int k = 0; k < half; ++k) {
    const auto& a = line[static_cast<std::size_t>(k)];
    const auto& b = line[static_cast<std::size_t>(cols - 1 - k)];
    even.push_back(context.define(to, "e", plus(a, b)));
    odd.push_back(context.define(to, "o", minus(a, b)));
  }
  if (cols % 2 == 1) even.push_back(line[static_cast<std::size_t>(half)]);
  std::vector<NodePtr> result(static_cast<std::size_t>(rows));
  for (int r = 0; r < (rows + 1) / 2; ++r) {
    std::vector<double> even_row, odd_row;
    for (int k = 0; k < half; ++k) {
      even_row.push_back(0.5 * (matrix(r, k) + matrix(r, cols - 1 - k)));
      odd_row.push_back(0.5 * (matrix(r, k) - matrix(r, cols - 1 - k)));
    }
    if (cols % 2 == 1) even_row.push_back(matrix(r, half));
    const int mirrored = rows - 1 - r;
    if (mirrored == r) { // the middle row has one parity only
      result[static_cast<std::size_t>(r)] =
          matrix.symmetry == Symmetry::even ? combination(even_row, even) : combination(odd_row, odd);
      continue;
    }
    const NodePtr e = context.define(to, "e", combination(even_row, even));
    const NodePtr o = context.define(to, "o", combination(odd_row, odd));
    result[static_cast<std::size_t>(r)] = plus(e, o);
    result[static_cast<std::size_t>(mirrored)] = matrix.symmetry == Symmetry::even ? minus(e, o) : minus(o, e);
  }
  return result;
}

struct Strides {
  int outer = 1, inner = 1;
};
Strides strides(const kernel::TensorArray& array, int axis) {
  Strides result;
  for (int i = 0; i < static_cast<int>(array.extents.size()); ++i) {
    if (i < axis) result.outer *= array.extents[static_cast<std::size_t>(i)];
    if (i > axis) result.inner *= array.extents[static_cast<std::size_t>(i)];
  }
  return result;
}

void contract_lines(Context& context, const kernel::Step& step, Statements& to) {
  const auto& matrix = context.program.matrices[static_cast<std::size_t>(step.matrix)];
  const auto size = strides(context.program.arrays[static_cast<std::size_t>(step.source)], step.axis);
  const std::string source = array_name(context, step.source), target = array_name(context, step.target);
  const std::string o = context.fresh("o"), i = context.fresh("i");
  Statements body;
  const auto entry = [&](int count, int k) {
    return context.work_entry(
        iadd(imul(iadd(imul(variable(o), integer(count)), integer(k)), integer(size.inner)), variable(i)));
  };
  std::vector<NodePtr> line;
  for (int k = 0; k < matrix.cols; ++k) line.push_back(context.define(body, "u", load(source, entry(matrix.cols, k))));
  const auto rows = apply_to_line(context, matrix, line, body);
  for (int r = 0; r < matrix.rows; ++r) {
    const auto& value = rows[static_cast<std::size_t>(r)];
    body.push_back(step.accumulate ? add(target, entry(matrix.rows, r), value)
                                   : store(target, entry(matrix.rows, r), value));
  }
  to.push_back(loop(o, integer(size.outer), loop(i, integer(size.inner), block(body))));
}

/// Rows in groups whose sums stay in registers: per group and column one vector load and one broadcast entry per row.
void contract_dense(Context& context, const kernel::Step& step, Statements& to) {
  constexpr int block_rows = 8;
  const auto& matrix = context.program.matrices[static_cast<std::size_t>(step.matrix)];
  const auto size = strides(context.program.arrays[static_cast<std::size_t>(step.source)], step.axis);
  const std::string source = array_name(context, step.source), target = array_name(context, step.target);
  const std::string table = context.global(Role::matrix, step.matrix);
  const std::string sums = context.work("sums", block_rows);
  const auto group = [&](NodePtr first_row, int rows, NodePtr o) {
    Statements statements, columns;
    const std::string k = context.fresh("k");
    const NodePtr u = context.define(
        columns, "u", load(source, context.work_entry(iadd(imul(o, integer(matrix.cols)), variable(k)))));
    for (int r = 0; r < rows; ++r) {
      statements.push_back(store(sums, context.work_entry(integer(r)), number(0)));
      const NodePtr entry = iadd(imul(iadd(first_row, integer(r)), integer(matrix.cols)), variable(k));
      columns.push_back(add(sums, context.work_entry(integer(r)), operation(ScalarOp::mul, {load(table, entry), u})));
    }
    statements.push_back(loop(k, integer(matrix.cols), block(columns)));
    for (int r = 0; r < rows; ++r) {
      const NodePtr entry = context.work_entry(iadd(imul(o, integer(matrix.rows)), iadd(first_row, integer(r))));
      const NodePtr value = load(sums, context.work_entry(integer(r)));
      statements.push_back(step.accumulate ? add(target, entry, value) : store(target, entry, value));
    }
    return block(statements);
  };
  const std::string o = context.fresh("o"), b = context.fresh("b");
  const int num_groups = matrix.rows / block_rows;
  Statements body;
  if (num_groups > 0)
    body.push_back(
        loop(b, integer(num_groups), group(imul(variable(b), integer(block_rows)), block_rows, variable(o))));
  if (matrix.rows % block_rows != 0)
    body.push_back(group(integer(num_groups * block_rows), matrix.rows % block_rows, variable(o)));
  to.push_back(loop(o, integer(size.outer), block(body)));
}

} // namespace

std::vector<NodePtr> apply_to_line(Context& context, const ReferenceMatrix& matrix, const std::vector<NodePtr>& line,
                                   Statements& to) {
  const int least = context.plan.even_odd;
  if (matrix.symmetry != Symmetry::none && least > 0 && matrix.cols >= std::max(least, 2) && matrix.rows > 1)
    return apply_by_halves(context, matrix, line, to);
  std::vector<NodePtr> result;
  for (int r = 0; r < matrix.rows; ++r) {
    std::vector<double> row;
    for (int k = 0; k < matrix.cols; ++k) row.push_back(matrix(r, k));
    result.push_back(combination(row, line));
  }
  return result;
}

void contract(Context& context, const kernel::Step& step, Statements& to) {
  if (context.program.matrices[static_cast<std::size_t>(step.matrix)].is_data)
    contract_dense(context, step, to);
  else
    contract_lines(context, step, to);
}

} // namespace rafter::schedule
