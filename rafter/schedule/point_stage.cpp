// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/point_stage.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

namespace rafter::schedule {

namespace {

using form::Atom;
using form::AtomKind;
using kernel::OutputKind;

/// Storage position of a map mode.
int mode_position(const kernel::TensorProgram& program, int mode) {
  const auto modes = kernel::map_modes(program.function.map, program.tdim);
  return static_cast<int>(std::find(modes.begin(), modes.end(), mode) - modes.begin());
}

/// The largest first index of the atoms of a kind among these nodes, and one more.
int count_atoms(const kernel::QFunction& function, const std::vector<form::NodeId>& nodes, AtomKind kind) {
  int count = 0;
  for (const auto id : nodes)
    if (const auto& node = function.graph[id]; node.op == form::ScalarOp::atom && node.atom.kind == kind)
      count = std::max(count, node.atom.a + 1);
  return count;
}

int count_slots(const kernel::TensorProgram& program, AtomKind kind, OutputKind output_kind) {
  int count = 0;
  for (const auto& output : program.function.outputs)
    if (output.kind == output_kind) count = std::max(count, output.component + 1);
  return std::max(count,
                  count_atoms(program.function, program.function.graph.reachable(program.function.roots()), kind));
}

} // namespace

PointStage::PointStage(Context& context, Access access) : context_(context), access_(std::move(access)) {
  const auto& function = context.program.function;
  order_ = function.graph.reachable(function.roots());
  dependencies_ = kernel::dependencies(function);
  num_coefficients_ = count_atoms(function, order_, AtomKind::cell_coefficient);
  num_stored_points_ = count_slots(context.program, AtomKind::stored_point, OutputKind::stored_point);
  num_stored_cells_ = count_slots(context.program, AtomKind::stored_cell, OutputKind::stored_cell);
}

NodePtr PointStage::value(form::NodeId id) const { return values_.at(id); }

NodePtr PointStage::point_number() const {
  const auto& program = context_.program;
  if (!program.is_grid()) return variable("q");
  NodePtr number = integer(0);
  for (int axis = program.tdim - 1; axis >= 0; --axis)
    number = iadd(imul(number, integer(program.points_along(axis))),
                  axis == 0 && context_.has_point_lanes()
                      ? imul(variable(axis_variable(0)), integer(context_.plan[key::vector_width]))
                      : variable(axis_variable(axis)));
  return number;
}

NodePtr PointStage::stored_entry(int slot) const {
  const auto& program = context_.program;
  if (context_.input.stored.is_by_slot) {
    const NodePtr cell = context_.at_cell(imul(context_.data_row(), integer(context_.cells_per_batch())));
    const NodePtr row = iadd(imul(cell, integer(num_stored_points_)), integer(slot));
    return context_.at_point(iadd(imul(row, integer(program.num_points())), point_number()));
  }
  const NodePtr first = first_stored(slot);
  return context_.has_cell_lanes() ? iadd(first, lane()) : first;
}

/// Returns the place of the first stored number of the cells that are computed at a time, `number` numbers per cell
/// ahead.
NodePtr PointStage::first_stored(int number) const {
  return context_.first_stored(context_.program.num_points(), point_number(), num_stored_points_, integer(number));
}

void PointStage::ask_for_stored(int slot, Statements& to) {
  constexpr int entries_ahead = 48; // hides the latency of memory, and is less than the nearest cache holds
  if (!context_.plan[key::prefetch] || !context_.has_cell_lanes()) return;
  const std::string buffer = context_.global(role::stored_point);
  const int per_line = 64 / size_bytes(context_.result.find(buffer)->type); // numbers of a cache line
  const NodePtr first = first_stored(slot + entries_ahead);
  for (int line = 0; line < context_.plan[key::vector_width]; line += per_line)
    to.push_back(prefetch(buffer, iadd(first, integer(line))));
}

NodePtr PointStage::reference_coordinate(int axis) {
  const auto& program = context_.program;
  if (!program.is_grid())
    return context_.fetch(context_.global(role::points),
                          context_.facet_entry(iadd(imul(variable("q"), integer(program.tdim)), integer(axis)),
                                               std::int64_t{program.num_points()} * program.tdim));
  if (axis > 0 || !context_.has_point_lanes())
    return context_.fetch(context_.reals("points", program.grid[static_cast<std::size_t>(axis)]),
                          variable(axis_variable(axis)));
  auto padded = program.grid.front(); // lanes without a point repeat the last one
  while (padded.size() % static_cast<std::size_t>(context_.plan[key::vector_width]) != 0)
    padded.push_back(padded.back());
  return context_.fetch(context_.vectors("points", padded), context_.work_entry(variable(axis_variable(0))));
}

NodePtr PointStage::atom(const Atom& a) {
  const auto& program = context_.program;
  switch (a.kind) {
  case AtomKind::parameter:
    return context_.fetch(context_.global(role::parameters), integer(a.a));
  case AtomKind::reference_normal:
    return context_.fetch(context_.global(role::reference_normal), context_.facet_entry(integer(a.a), program.tdim));
  case AtomKind::cell_coefficient: {
    // one more parameter says how many coefficients a cell has: the array may serve several kernels
    const NodePtr count = iload(context_.global(role::mode, 0, Type::integer), integer(1));
    return context_.fetch_of_cell(role::cell_coefficients, num_coefficients_, count,
                                  [&](const NodePtr& cell) { return iadd(imul(cell, count), integer(a.a)); });
  }
  case AtomKind::map_coefficient: {
    const int modes = static_cast<int>(kernel::map_modes(program.function.map, program.tdim).size()),
              count = modes * program.tdim, entry = mode_position(program, a.a) * program.tdim + a.b;
    context_.announce_row(role::map, count);
    return context_.fetch_of_cell(role::map, count, integer(count), [&](const NodePtr& cell) {
      return iadd(imul(cell, integer(count)), integer(entry));
    });
  }
  case AtomKind::stored_cell:
    context_.announce_row(role::stored_cell, num_stored_cells_);
    return context_.fetch(
        context_.global(role::stored_cell),
        context_.cell_entry(iadd(imul(context_.data_row(), integer(num_stored_cells_)), integer(a.a))));
  case AtomKind::stored_point:
    return context_.fetch(context_.global(role::stored_point), stored_entry(a.a));
  case AtomKind::reference_coordinate:
    return reference_coordinate(a.a);
  default:
    break;
  }
  for (const auto& slot : program.input_slots)
    if (slot.atom == a) return access_.read(slot);
  throw base::InternalError("point stage: no value for " + form::to_string(a));
}

void PointStage::emit(unsigned allowed, Statements& to) {
  const auto& graph = context_.program.function.graph;
  for (const auto id : order_) {
    if (values_.contains(id) || (dependencies_[static_cast<std::size_t>(id)] & ~(allowed | kernel::on_parameter)) != 0)
      continue;
    const auto& node = graph[id];
    if (node.op == form::ScalarOp::constant) {
      values_[id] = context_.number(node.value);
      continue;
    }
    NodePtr expression;
    if (node.op == form::ScalarOp::atom) {
      expression = atom(node.atom);
      if (node.atom.kind == AtomKind::stored_point) ask_for_stored(node.atom.a, to);
    } else {
      std::vector<NodePtr> operands;
      for (int i = 0; i < form::info(node.op).arity; ++i)
        operands.push_back(value(node.operands[static_cast<std::size_t>(i)]));
      expression = operation(node.op, std::move(operands));
    }
    values_[id] = context_.define(to, "t", expression);
  }
}

void PointStage::at_cell(Statements& to) {
  emit(kernel::on_cell, to);
  for (const auto& output : context_.program.function.outputs)
    if (output.kind == OutputKind::stored_cell)
      write_stored(
          role::stored_cell,
          context_.cell_entry(iadd(imul(context_.data_row(), integer(num_stored_cells_)), integer(output.component))),
          value(output.node), to);
}

void PointStage::write_stored(const std::string& role, NodePtr entry, NodePtr value, Statements& to) const {
  const std::string buffer = context_.global(role, 0, Type::real, true);
  to.push_back(store(buffer, std::move(entry), context_.fitting(buffer, std::move(value))));
}

void PointStage::at_axis(int axis, Statements& to) {
  unsigned allowed = kernel::on_cell;
  for (int a = axis; a < context_.program.tdim; ++a) allowed |= kernel::on_axis_0 << a;
  emit(allowed, to);
}

void PointStage::at_axes(std::span<const int> axes, Statements& to) {
  unsigned allowed = kernel::on_cell;
  for (const int axis : axes) allowed |= kernel::on_axis_0 << axis;
  emit(allowed, to);
}

void PointStage::at_point(Statements& to) {
  emit(~0U, to);
  const auto& function = context_.program.function;
  for (std::size_t i = 0; i < function.outputs.size(); ++i) {
    const auto& output = function.outputs[i];
    const NodePtr result = value(output.node);
    switch (output.kind) {
    case OutputKind::test:
    case OutputKind::test_pair:
    case OutputKind::inverse_map:
      access_.write(i, result, to);
      break;
    case OutputKind::integral: {
      const std::string weights = context_.global(role::weights);
      to.push_back(
          add("total", context_.work_entry(integer(output.component)),
              operation(form::ScalarOp::mul,
                        {context_.fetch(weights, context_.facet_entry(point_number(), context_.program.num_points())),
                         result})));
      break;
    }
    case OutputKind::stored_point:
      write_stored(role::stored_point, stored_entry(output.component), result, to);
      break;
    case OutputKind::stored_cell:
      break;
    }
  }
}

void begin_integral(Context& context, Statements& to) {
  int num_values = 0;
  for (const auto& output : context.program.function.outputs)
    if (output.kind == OutputKind::integral) num_values = std::max(num_values, output.component + 1);
  if (num_values == 0) return;
  const auto totals = context.work("total", num_values);
  for (int value = 0; value < num_values; ++value)
    to.push_back(store(totals, context.work_entry(integer(value)), context.number(0)));
}

void end_integral(Context& context, Statements& to) {
  if (context.result.find("total") == nullptr) return;
  for (const auto& output : context.program.function.outputs) {
    if (output.kind != OutputKind::integral) continue;
    // Padded lanes and items repeat a cell, and write nothing.
    const std::string sums = context.global(role::integral, output.component, Type::real, true);
    const NodePtr total = context.load("total", context.work_entry(integer(output.component)));
    NodePtr adding = add(sums, context.cell_entry(context.batch()), context.fitting(sums, total),
                         context.has_cell_lanes() ? context.active_lanes() : nullptr);
    if (context.has_items())
      adding = branch(ilt(context.at_cell(integer(0)), context.num_active()), block({adding}), block({}));
    to.push_back(std::move(adding));
  }
}

} // namespace rafter::schedule
