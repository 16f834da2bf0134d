// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/vector_lowering.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::schedule {

namespace {

using LoopStatements = std::vector<NodePtr>;

const std::string scalars = "scalars_", ranges = "ranges_", rows = "rows_", totals = "totals_";
/// Sums of an item: by lane, of the entries behind the last whole vector, and of all.
const std::string partial = "partial_", rest = "rest_", lanes = "lanes_", shared = "shared_";

LoopBuffer global(const std::string& name, Type type, bool is_written) {
  return {.name = name, .space = Space::global, .type = type, .is_written = is_written, .role = {}, .values = {}};
}
LoopBuffer own(const std::string& name, Space space, std::int64_t size, bool is_lane = false) {
  return {.name = name, .space = space, .size = size, .is_lane = is_lane, .role = {}, .values = {}};
}

NodePtr plus(const NodePtr& a, std::int64_t b) { return iadd(a, integer(b)); }

/// LoopValues of the names of expressions.
class LoopValues {
public:
  void set(const std::string& name, NodePtr value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.contains(name); }
  NodePtr of(const NodePtr& expression) const {
    if (expression->kind == Kind::reg) return values_.at(expression->name);
    if (expression->kind != Kind::operation) return expression;
    LoopStatements operands;
    for (const auto& operand : expression->operands) operands.push_back(of(operand));
    return operation(expression->op, std::move(operands));
  }

private:
  std::map<std::string, NodePtr> values_;
};

/// Names that occur in an expression.
void add_names(const Node& expression, std::vector<std::string>& names) {
  if (expression.kind == Kind::reg) names.push_back(expression.name);
  for (const auto& operand : expression.operands) add_names(*operand, names);
}

class Lowering {
public:
  Lowering(const VectorLoop& loop, const VectorMapping& mapping)
      : loop_(loop), mapping_(mapping), num_sums_(static_cast<std::int64_t>(loop.sums.size())) {
    if (mapping.vector_width > 1 && mapping.num_items > 1)
      throw base::InternalError("loop over vectors " + loop.name + ": items of a group have no lanes");
  }

  LoopProgram main() {
    LoopProgram result{.name = loop_.name, .vector_width = mapping_.vector_width, .launch = launch(1)};
    for (const auto& operand : loop_.operands)
      result.buffers.push_back(global(operand.name, operand.type, operand.is_written));
    for (const auto& list : loop_.lists()) result.buffers.push_back(global(list, Type::integer, false));
    result.buffers.push_back(global(scalars, Type::real, false));
    result.buffers.push_back(global(ranges, Type::integer, false));
    result.buffers.push_back(global(rows, Type::real, true));
    LoopStatements body = scalar_values();
    if (is_of_host())
      run_ranges(result, body);
    else
      run_range_of_group(result, body);
    result.body = block(std::move(body));
    return result;
  }

  std::optional<LoopProgram> total() {
    if (num_sums_ == 0 && loop_.then.empty()) return std::nullopt;
    LoopProgram result{
        .name = loop_.name + "_total", .vector_width = mapping_.vector_width, .launch = launch(Launch::all_batches)};
    result.buffers = {global(rows, Type::real, false), global(totals, Type::real, true),
                      global(scalars, Type::real, true)};
    LoopStatements body;
    if (num_sums_ > 0) add_rows(result, body);
    LoopStatements end = scalar_values();
    for (std::int64_t k = 0; k < num_sums_; ++k) {
      const auto& sum = loop_.sums[static_cast<std::size_t>(k)].name;
      end.push_back(let(sum, load(is_of_host() ? rest : shared, is_of_host() ? integer(k) : of_item(k, 0))));
      end.push_back(store(totals, integer(k), reg(sum)));
      values_.set(sum, reg(sum));
    }
    assign_scalars(end);
    if (is_of_host())
      body.push_back(block(std::move(end)));
    else
      body.push_back(branch(ieq(item(0), integer(0)), block(std::move(end)), block({})));
    result.body = block(std::move(body));
    return result;
  }

private:
  bool is_of_host() const { return mapping_.num_items == 1; }
  Launch launch(int batches) const {
    return {.items = {mapping_.num_items, 1, 1}, .batches = is_of_host() ? Launch::all_batches : batches};
  }
  NodePtr num_batches() const { return plus(isub(variable("last_batch"), variable("batch")), 1); }

  LoopStatements scalar_values() {
    LoopStatements result;
    for (std::size_t k = 0; k < loop_.scalars.size(); ++k) {
      const auto& name = loop_.scalars[k];
      result.push_back(let(name, load(scalars, integer(static_cast<std::int64_t>(k)))));
      values_.set(name, reg(name));
    }
    return result;
  }
  void assign_scalars(LoopStatements& result) {
    int version = 0;
    for (const auto& [kind, name, value] : loop_.then) {
      const std::string assigned = fmt::format("{}_{}", name, version++);
      const auto k = std::ranges::find(loop_.scalars, name) - loop_.scalars.begin();
      result.push_back(let(assigned, values_.of(value)));
      result.push_back(store(scalars, integer(k), reg(assigned)));
      values_.set(name, reg(assigned));
    }
  }

  /// One entry, or one vector of entries, at `index`. `mark` distinguishes its names from those of other bodies.
  LoopStatements entry(const NodePtr& index, const std::string& mark, const std::string& sums) const {
    LoopValues values = values_;
    LoopStatements result;
    int version = 0;
    const auto place = [&](const VectorOperand& operand) {
      return operand.list.empty() ? index : variable(operand.list + mark + "_", index->has_lane);
    };
    for (const auto& list : loop_.lists()) result.push_back(ilet(list + mark + "_", iload(list, index)));
    const auto load_entries = [&](const NodePtr& expression) {
      std::vector<std::string> names;
      add_names(*expression, names);
      for (const auto& name : names) {
        const auto operand = std::ranges::find(loop_.operands, name, &VectorOperand::name);
        if (values.has(name) || operand == loop_.operands.end()) continue;
        const std::string loaded = fmt::format("{}{}_{}", name, mark, version++);
        result.push_back(let(loaded, converted(load(name, place(*operand), operand->type), Type::real)));
        values.set(name, reg(loaded));
      }
    };
    for (const auto& [kind, name, value] : loop_.statements) {
      load_entries(value);
      const std::string assigned = fmt::format("{}{}_{}", name, mark, version++);
      result.push_back(let(assigned, values.of(value)));
      values.set(name, reg(assigned));
      if (kind == Assignment::Kind::value) continue;
      const auto& operand = *std::ranges::find(loop_.operands, name, &VectorOperand::name);
      result.push_back(store(name, place(operand), converted(reg(assigned), operand.type)));
    }
    for (std::int64_t k = 0; k < num_sums_; ++k) {
      const auto& value = loop_.sums[static_cast<std::size_t>(k)].value;
      load_entries(value);
      const bool has_lane = index->has_lane;
      const NodePtr sum = has_lane ? iadd(integer(k * mapping_.vector_width), lane()) : integer(k);
      result.push_back(add(sums, sum, values.of(value)));
    }
    return result;
  }

  void clear(LoopStatements& body, const std::string& sums, bool has_lanes) const {
    for (std::int64_t k = 0; k < num_sums_; ++k)
      body.push_back(store(sums, has_lanes ? iadd(integer(k * mapping_.vector_width), lane()) : integer(k), number(0)));
  }

  /// All ranges of a run, one after the other; lists are visited number by number.
  void run_ranges(LoopProgram& result, LoopStatements& body) const {
    const int width = loop_.lists().empty() ? mapping_.vector_width : 1;
    if (num_sums_ > 0) result.buffers.push_back(own(rest, Space::work, num_sums_));
    clear(body, rest, false);
    if (width > 1 && num_sums_ > 0)
      for (const auto& name : {partial, lanes})
        result.buffers.push_back(own(name, Space::work, num_sums_ * width, true));
    if (width > 1) clear(body, partial, true);
    const NodePtr range = iadd(variable("batch"), variable("range_"));
    LoopStatements of_range{ilet("first_", iload(ranges, imul(range, integer(2)))),
                            ilet("count_", isub(iload(ranges, plus(imul(range, integer(2)), 1)), variable("first_")))};
    NodePtr first = variable("first_"), count = variable("count_");
    if (width > 1) {
      of_range.push_back(ilet("whole_", idiv(count, width)));
      const NodePtr index = iadd(iadd(first, imul(variable("step_"), integer(width))), lane());
      of_range.push_back(loop("step_", variable("whole_"), block(entry(index, "", partial))));
      const NodePtr done = imul(variable("whole_"), integer(width));
      first = iadd(first, done);
      count = isub(count, done);
    }
    of_range.push_back(loop("step_", count, block(entry(iadd(first, variable("step_")), "_r", rest))));
    body.push_back(loop("range_", num_batches(), block(std::move(of_range))));
    if (width > 1) // a copy, so that the sums themselves stay in registers
      for (std::int64_t k = 0; k < num_sums_; ++k) {
        const NodePtr vector = iadd(integer(k * width), lane());
        body.push_back(store(lanes, vector, load(partial, vector)));
        for (std::int64_t l = 0; l < width; ++l)
          body.push_back(add(rest, integer(k), load(lanes, integer(k * width + l))));
      }
    for (std::int64_t k = 0; k < num_sums_; ++k) body.push_back(store(rows, integer(k), load(rest, integer(k))));
  }

  /// The range of a group, of which each item takes every num_items-th entry.
  void run_range_of_group(LoopProgram& result, LoopStatements& body) const {
    const int items = mapping_.num_items;
    const NodePtr range = variable("batch");
    body.push_back(ilet("first_", iload(ranges, imul(range, integer(2)))));
    body.push_back(ilet("count_", isub(iload(ranges, plus(imul(range, integer(2)), 1)), variable("first_"))));
    const NodePtr count = idiv(plus(isub(variable("count_"), item(0)), items - 1), items);
    const NodePtr index = iadd(iadd(variable("first_"), item(0)), imul(variable("step_"), integer(items)));
    if (num_sums_ > 0) result.buffers.push_back(own(rest, Space::work, num_sums_));
    clear(body, rest, false);
    body.push_back(loop("step_", count, block(entry(index, "", rest))));
    if (num_sums_ == 0) return;
    add_items(result, body);
    LoopStatements end;
    for (std::int64_t k = 0; k < num_sums_; ++k)
      end.push_back(store(rows, plus(imul(range, integer(num_sums_)), k), load(shared, of_item(k, 0))));
    body.push_back(branch(ieq(item(0), integer(0)), block(std::move(end)), block({})));
  }

  NodePtr of_item(std::int64_t sum, std::int64_t number) const { return integer(sum * mapping_.num_items + number); }

  /// The sums of all items of a group, pairwise, into those of item 0.
  void add_items(LoopProgram& result, LoopStatements& body) const {
    result.buffers.push_back(own(shared, Space::shared, num_sums_ * mapping_.num_items));
    const auto mine = [&](std::int64_t k, std::int64_t distance) { return iadd(of_item(k, distance), item(0)); };
    for (std::int64_t k = 0; k < num_sums_; ++k) body.push_back(store(shared, mine(k, 0), load(rest, integer(k))));
    body.push_back(barrier());
    for (int distance = mapping_.num_items / 2; distance > 0; distance /= 2) {
      LoopStatements half;
      for (std::int64_t k = 0; k < num_sums_; ++k)
        half.push_back(add(shared, mine(k, 0), load(shared, mine(k, distance))));
      body.push_back(branch(ilt(item(0), integer(distance)), block(std::move(half)), block({})));
      body.push_back(barrier());
    }
  }

  /// The sums of all rows of a run.
  void add_rows(LoopProgram& result, LoopStatements& body) const {
    result.buffers.push_back(own(rest, Space::work, num_sums_));
    clear(body, rest, false);
    const int items = mapping_.num_items;
    const NodePtr count = is_of_host() ? num_batches() : idiv(plus(isub(num_batches(), item(0)), items - 1), items);
    const NodePtr row =
        iadd(iadd(variable("batch"), is_of_host() ? integer(0) : item(0)), imul(variable("step_"), integer(items)));
    LoopStatements of_row;
    for (std::int64_t k = 0; k < num_sums_; ++k)
      of_row.push_back(add(rest, integer(k), load(rows, plus(imul(row, integer(num_sums_)), k))));
    body.push_back(loop("step_", count, block(std::move(of_row))));
    if (!is_of_host()) add_items(result, body);
  }

  const VectorLoop& loop_;
  const VectorMapping& mapping_;
  std::int64_t num_sums_;
  LoopValues values_; ///< scalars, and behind the loop sums
};

} // namespace

VectorPrograms lower(const VectorLoop& loop, const VectorMapping& mapping) {
  VectorPrograms result{Lowering(loop, mapping).main(), Lowering(loop, mapping).total()};
  verify(result.main);
  if (result.total) verify(*result.total);
  return result;
}

} // namespace rafter::schedule
