// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

namespace {

using form::ScalarOp;
using kernel::ReferenceMatrix;
using kernel::Symmetry;

NodePtr plus(NodePtr a, NodePtr b) { return operation(ScalarOp::add, {std::move(a), std::move(b)}); }
NodePtr minus(NodePtr a, NodePtr b) { return operation(ScalarOp::sub, {std::move(a), std::move(b)}); }

/// sum_k coefficients[k] * line[k] without the zeros.
NodePtr combination(const Context& context, const std::vector<double>& coefficients, const std::vector<NodePtr>& line) {
  NodePtr sum;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (coefficients[k] == 0) continue;
    NodePtr term = operation(ScalarOp::mul, {context.number(coefficients[k]), line[k]});
    sum = sum == nullptr ? term : plus(sum, term);
  }
  return sum == nullptr ? context.number(0) : sum;
}

/// Rows and columns of a block; a matrix without blocks is one.
std::vector<ReferenceMatrix::MatrixBlock> blocks_of(const ReferenceMatrix& matrix) {
  if (!matrix.blocks.empty()) return matrix.blocks;
  ReferenceMatrix::MatrixBlock all;
  for (int r = 0; r < matrix.rows; ++r) all.rows.push_back(r);
  for (int k = 0; k < matrix.cols; ++k) all.cols.push_back(k);
  return {all};
}

/// Groups of `most` rows that are summed at the same time; the last one starts early enough to be whole, and stores
/// what it shares with the one before a second time.
struct RowGroups {
  int num_rows, count, size;
  RowGroups(int rows, int most) : num_rows(rows), count((rows + most - 1) / most), size((rows + count - 1) / count) {}
  int first(int group) const { return std::min(group * size, num_rows - size); }
};

/// Position `i` of a list: arithmetic where the list is a range, else a table.
NodePtr listed(Context& context, const std::string& name, const std::vector<int>& list, NodePtr i) {
  if (list.empty()) return i; // never reached
  for (std::size_t k = 1; k < list.size(); ++k)
    if (list[k] != list[0] + static_cast<int>(k)) return iload(context.integers(name, list), std::move(i));
  return iadd(integer(list[0]), std::move(i));
}

/// Groups of rows whose sums stay in registers: per column one entry per row, and one vector per group of lanes that is
/// multiplied by them all.
class ProductInBlocks {
public:
  ProductInBlocks(Context& context, const BlockedProduct& product)
      : context_(context), product_(product), sums_(context.work("sums", product.rows)) {}

  void add_block(const ReferenceMatrix::MatrixBlock& block, Statements& to) {
    if (block.rows.empty()) return;
    const auto num_cols = static_cast<std::int64_t>(block.cols.size());
    const RowGroups groups(static_cast<int>(block.rows.size()), product_.rows);
    const std::string g = context_.fresh("g"), k = context_.fresh("k");
    Statements group;
    each_sum(groups, [&](int, const NodePtr& sum) { group.push_back(store(sums_, sum, context_.number(0))); });
    const NodePtr first_entry =
        iadd(iadd(product_.first_entry, integer(offset_)),
             imul(iadd(imul(variable(g), integer(num_cols)), variable(k)), integer(groups.size)));
    group.push_back(
        loop(k, integer(num_cols),
             schedule::block(column(groups, listed(context_, "cols", block.cols, variable(k)), first_entry))));
    const NodePtr first = context_.define_integer(
        group, "f", imin(imul(variable(g), integer(groups.size)), integer(groups.num_rows - groups.size)));
    each_sum(groups, [&](int r, const NodePtr& sum) {
      const NodePtr row = listed(context_, "rows", block.rows, iadd(first, integer(r)));
      group.push_back(
          store(product_.target, context_.work_entry(iadd(product_.first_target, row)), context_.load(sums_, sum)));
    });
    to.push_back(loop(g, integer(groups.count), schedule::block(group)));
    offset_ += static_cast<std::int64_t>(groups.count) * groups.size * num_cols;
  }

private:
  /// Calls f(row, its sum) for one sub-batch after the other.
  template <class F> void each_sum(const RowGroups& groups, const F& f) {
    each_member([&] {
      for (int r = 0; r < groups.size; ++r) f(r, context_.work_entry(integer(r)));
    });
  }
  template <class F> void each_member(const F& f) {
    const NodePtr outside = context_.subbatch_of_pass;
    for (int m = 0; m < context_.subbatches; ++m) {
      context_.subbatch_of_pass = integer(m);
      f();
    }
    context_.subbatch_of_pass = outside;
  }
  Statements column(const RowGroups& groups, const NodePtr& col, const NodePtr& first_entry) {
    Statements body;
    std::vector<NodePtr> entries;
    for (int r = 0; r < groups.size; ++r) {
      const NodePtr entry = context_.fetch(product_.table, iadd(first_entry, integer(r)));
      entries.push_back(context_.subbatches > 1 ? context_.define(body, "t", entry) : entry);
    }
    std::vector<NodePtr> vectors;
    each_member([&] {
      vectors.push_back(context_.define(
          body, "u", context_.load(product_.source, context_.work_entry(iadd(product_.first_source, col)))));
    });
    for (int r = 0; r < groups.size; ++r) {
      auto vector = vectors.begin();
      each_member([&] {
        body.push_back(add(sums_, context_.work_entry(integer(r)),
                           operation(ScalarOp::mul, {entries[static_cast<std::size_t>(r)], *vector++})));
      });
    }
    return body;
  }

  Context& context_;
  const BlockedProduct& product_;
  std::string sums_;
  std::int64_t offset_ = 0; ///< offset of the block in the table
};

} // namespace

bool stands_in_text(const kernel::TensorProgram& program, const kernel::MatrixFamily& family, const Plan& plan) {
  if (family.members.size() > 1) return false;
  std::int64_t entries = 0;
  for (const auto& block : blocks_of(program.matrices[static_cast<std::size_t>(family.members.front())]))
    entries += static_cast<std::int64_t>(block.rows.size()) * static_cast<std::int64_t>(block.cols.size());
  return entries <= plan[key::unroll];
}

int rows_at_a_time(const Plan& plan) { return std::max(plan[key::rows] / plan[key::subbatches], 1); }

void product_in_blocks(Context& context, const BlockedProduct& product, Statements& to) {
  ProductInBlocks blocks(context, product);
  for (const auto& block : blocks_of(product.matrix)) blocks.add_block(block, to);
}

void product_in_text(const Context& context, const ReferenceMatrix& matrix,
                     const std::function<NodePtr(int col)>& entry,
                     const std::function<void(int row, NodePtr sum)>& result) {
  for (const auto& block : blocks_of(matrix)) {
    std::vector<NodePtr> line;
    for (const int k : block.cols) line.push_back(entry(k));
    for (const int r : block.rows) {
      std::vector<double> row;
      for (const int k : block.cols) row.push_back(matrix(r, k));
      result(r, combination(context, row, line));
    }
  }
}

bool goes_by_halves(const Context& context, const ReferenceMatrix& matrix) {
  const int least = context.plan[key::even_odd];
  return matrix.symmetry != Symmetry::none && least > 0 && matrix.cols >= std::max(least, 2) && matrix.rows > 1;
}

Halves halves_of(Context& context, const std::vector<NodePtr>& line, Statements& to) {
  Halves result;
  const std::size_t size = line.size();
  for (std::size_t k = 0; k < size / 2; ++k) {
    result.even.push_back(context.define(to, "e", plus(line[k], line[size - 1 - k])));
    result.odd.push_back(context.define(to, "o", minus(line[k], line[size - 1 - k])));
  }
  if (size % 2 == 1) result.middle = line[size / 2];
  return result;
}

Halves apply(Context& context, const ReferenceMatrix& matrix, const Halves& line, double factor, Statements& to) {
  const int cols = matrix.cols, half = cols / 2;
  const bool is_even = matrix.symmetry == Symmetry::even;
  auto even = line.even;
  if (line.middle != nullptr) even.push_back(line.middle);
  Halves result{.factor = factor};
  for (int r = 0; r < (matrix.rows + 1) / 2; ++r) {
    const bool is_middle = 2 * r + 1 == matrix.rows; // it has one parity only
    const double scale = is_middle ? 1 : 1 / factor;
    std::vector<double> even_row, odd_row;
    for (int k = 0; k < half; ++k) {
      even_row.push_back(scale * line.factor * (matrix(r, k) + matrix(r, cols - 1 - k)));
      odd_row.push_back(scale * line.factor * (matrix(r, k) - matrix(r, cols - 1 - k)));
    }
    if (cols % 2 == 1) even_row.push_back(scale * matrix(r, half));
    if (is_middle) {
      result.middle = is_even ? combination(context, even_row, even) : combination(context, odd_row, line.odd);
      continue;
    }
    const NodePtr e = context.define(to, "e", combination(context, even_row, even));
    const NodePtr o = context.define(to, "o", combination(context, odd_row, line.odd));
    result.even.push_back(is_even ? e : o);
    result.odd.push_back(is_even ? o : e);
  }
  return result;
}

std::vector<NodePtr> line_of(const Halves& halves) {
  std::vector<NodePtr> line;
  for (std::size_t k = 0; k < halves.even.size(); ++k) line.push_back(plus(halves.even[k], halves.odd[k]));
  if (halves.middle != nullptr) line.push_back(halves.middle);
  for (std::size_t k = halves.even.size(); k-- > 0;) line.push_back(minus(halves.even[k], halves.odd[k]));
  return line;
}

std::vector<NodePtr> products(const Context& context, const ReferenceMatrix& matrix, const std::vector<NodePtr>& line) {
  std::vector<NodePtr> result;
  for (int r = 0; r < matrix.rows; ++r) {
    std::vector<double> row;
    for (int k = 0; k < matrix.cols; ++k) row.push_back(matrix(r, k));
    result.push_back(combination(context, row, line));
  }
  return result;
}

std::vector<NodePtr> apply_into_vectors(Context& context, const ReferenceMatrix& matrix,
                                        const std::vector<NodePtr>& line) {
  const int vector_width = context.plan[key::vector_width], vectors = (matrix.rows + vector_width - 1) / vector_width;
  std::vector<double> columns;
  for (int k = 0; k < matrix.cols; ++k)
    for (int r = 0; r < vectors * vector_width; ++r) columns.push_back(r < matrix.rows ? matrix(r, k) : 0);
  const std::string table = context.vectors("columns", columns);
  std::vector<NodePtr> result;
  for (int v = 0; v < vectors; ++v) {
    NodePtr sum;
    for (int k = 0; k < matrix.cols; ++k) {
      const NodePtr column = context.load(table, context.work_entry(integer(k * vectors + v)));
      const NodePtr term = operation(ScalarOp::mul, {column, line[static_cast<std::size_t>(k)]});
      sum = sum == nullptr ? term : plus(sum, term);
    }
    result.push_back(sum);
  }
  return result;
}

namespace {

void append_packed(const ReferenceMatrix& matrix, const Plan& plan, std::vector<double>& result) {
  for (const auto& block : blocks_of(matrix)) {
    if (block.rows.empty()) continue;
    const RowGroups groups(static_cast<int>(block.rows.size()), rows_at_a_time(plan));
    for (int g = 0; g < groups.count; ++g)
      for (const int k : block.cols)
        for (int r = 0; r < groups.size; ++r)
          result.push_back(matrix(block.rows[static_cast<std::size_t>(groups.first(g) + r)], k));
  }
}

} // namespace

std::int64_t packed_size(const ReferenceMatrix& matrix, const Plan& plan) {
  std::int64_t result = 0;
  for (const auto& block : blocks_of(matrix))
    if (const RowGroups groups(static_cast<int>(block.rows.size()), rows_at_a_time(plan)); !block.rows.empty())
      result += std::int64_t{groups.count} * groups.size * std::ssize(block.cols);
  return result;
}

std::vector<std::vector<double>> packed_tables(const kernel::TensorProgram& program, const Plan& plan) {
  std::vector<std::vector<double>> result(program.matrices.size());
  for (const auto& family : program.families) {
    if (family.kind != kernel::FamilyKind::matrices) continue;
    const auto first = static_cast<std::size_t>(family.members.front());
    if (!program.matrices[first].is_data || stands_in_text(program, family, plan)) continue;
    std::vector<double> table;
    for (const int member : family.members)
      append_packed(program.matrices[static_cast<std::size_t>(member)], plan, table);
    // Families that begin with the same matrix share a table. The longer one holds both, because the members of a
    // family follow each other.
    if (table.size() > result[first].size()) result[first] = std::move(table);
  }
  return result;
}

void butterfly(Context& context, const kernel::Step& step, const std::string& array, const NodePtr& begin,
               Statements& to) {
  const auto& folding = context.program.folding_of(step);
  const auto num_points = static_cast<std::int64_t>(folding.places.size());
  const auto num_groups = context.program.size(step.target) / num_points;
  const std::string c = context.fresh("c");
  const auto orbits = [&](const auto& all, const auto& combinations) {
    if (all.empty()) return;
    constexpr std::size_t size = std::tuple_size_v<typename std::decay_t<decltype(all)>::value_type>;
    const std::string i = context.fresh("i");
    Statements body;
    std::vector<NodePtr> entries, values;
    for (std::size_t k = 0; k < size; ++k) {
      std::vector<int> places;
      for (const auto& orbit : all) places.push_back(orbit[k]);
      const NodePtr place = context.define_integer(body, "p", listed(context, "places", places, variable(i)));
      entries.push_back(context.work_entry(iadd(begin, iadd(imul(variable(c), integer(num_points)), place))));
      values.push_back(context.define(body, "u", context.load(array, entries.back())));
    }
    const auto results = combinations(values, body);
    for (std::size_t k = 0; k < size; ++k) body.push_back(store(array, entries[k], results[k]));
    to.push_back(loop(c, integer(num_groups), loop(i, integer(static_cast<std::int64_t>(all.size())), block(body))));
  };
  const auto sums = [&](const std::vector<NodePtr>& u, Statements& body) { return butterfly_of(context, u, body); };
  orbits(folding.quads, sums);
  orbits(folding.pairs, sums);
}

void each_orbit(const kernel::Folding& folding, const std::function<void(std::span<const int>)>& f) {
  for (const auto& quad : folding.quads) f(quad);
  for (const auto& pair : folding.pairs) f(pair);
}

std::vector<NodePtr> butterfly_of(Context& context, const std::vector<NodePtr>& u, Statements& to) {
  if (u.size() == 2) return {plus(u[0], u[1]), minus(u[0], u[1])};
  const NodePtr a = context.define(to, "a", plus(u[0], u[1])), b = context.define(to, "b", minus(u[0], u[1]));
  const NodePtr d = context.define(to, "d", plus(u[2], u[3])), e = context.define(to, "e", minus(u[2], u[3]));
  return {plus(a, d), plus(b, e), minus(a, d), minus(b, e)};
}

} // namespace rafter::schedule
