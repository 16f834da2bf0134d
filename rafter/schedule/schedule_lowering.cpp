// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule_lowering.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/schedule/barriers.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/dof_access.hpp>
#include <rafter/schedule/point_stage.hpp>
#include <rafter/schedule/schedule_memories.hpp>

namespace rafter::schedule {

namespace {

using form::ScalarOp;
using kernel::StepKind;

NodePtr with_term(NodePtr a, NodePtr b) {
  return a == nullptr ? std::move(b) : operation(ScalarOp::add, {std::move(a), std::move(b)});
}

bool evaluates(const kernel::TensorProgram& program, const Do& what) {
  return what.action == Do::Action::step &&
         program.steps[static_cast<std::size_t>(what.step)].kind == StepKind::evaluate;
}

class ScheduleLowering {
public:
  ScheduleLowering(const LoweringInput& input, const Plan& plan, const Schedule& schedule)
      : context_(input, plan, ParallelAxis::none), program_(*input.program), schedule_(schedule),
        memories_(context_, schedule),
        num_passes_((input.access.cells_per_batch + schedule.cells - 1) / schedule.cells),
        barriers_(barriers_of(program_, schedule, num_passes_ > 1)),
        stage_(context_, {[this](const kernel::InputSlot& input_slot) { return read(input_slot.slot); },
                          [this](std::size_t i, NodePtr value, Statements& to) {
                            write(program_.output_slots[i], std::move(value), to);
                          }}) {}

  LoopProgram run() {
    Statements of_cells;
    const NodePtr cell = iadd(num_passes_ > 1 ? imul(variable("pass"), integer(schedule_.cells)) : integer(0), item(2));
    of_cells.push_back(ilet("cell", cell));
    bind_items(of_cells);
    stage_.at_cell(of_cells);
    nest(schedule_.nest, of_cells);
    Statements body{ilet("own_batch", variable("batch"))};
    if (num_passes_ > 1) of_cells = {loop("pass", integer(num_passes_), block(std::move(of_cells)))};
    const auto rest = context_.with_data_row(std::move(of_cells));
    body.insert(body.end(), rest.begin(), rest.end());
    context_.result.launch = {.items = {schedule_.items[0], schedule_.items[1], schedule_.cells}, .batches = 1};
    context_.result.body = block(std::move(body));
    return std::move(context_.result);
  }

private:
  const kernel::Axis& axis(int number) const { return program_.axes[static_cast<std::size_t>(number)]; }

  // --- nests --------------------------------------------------------------------------------------------------------
  static std::string index_name(const kernel::Axis& axis) {
    return (axis.kind == kernel::AxisKind::point ? "q" : "d") + std::to_string(axis.direction);
  }
  /// The points of items that stand for the same ones in all nests: what depends on them alone is computed once.
  void bind_items(Statements& to) {
    const Nest* nest = nest_of_evaluation(schedule_.nest);
    if (nest == nullptr) return;
    std::vector<int> directions;
    for (const auto& loop : nest->loops) {
      if (loop.place != LoopPlace::item_x && loop.place != LoopPlace::item_y) continue;
      const auto& points = axis(loop.axes.front());
      const int along = loop.place == LoopPlace::item_x ? 0 : 1;
      if (points.kind != kernel::AxisKind::point || points.extent != schedule_.items[static_cast<std::size_t>(along)])
        continue;
      to.push_back(ilet(index_name(points), item(along)));
      directions.push_back(points.direction);
    }
    stage_.at_axes(directions, to);
  }
  const Nest* nest_of_evaluation(const Nest& of) const {
    for (const auto& entry : of.body)
      if (const auto* what = std::get_if<Do>(&entry)) {
        if (evaluates(program_, *what)) return &of;
      } else if (const Nest* found = nest_of_evaluation(std::get<Nest>(entry)); found != nullptr)
        return found;
    return nullptr;
  }

  void nest(const Nest& of, Statements& to) {
    if (std::ranges::any_of(of.loops, [](const Loop& loop) { return loop.place >= LoopPlace::item_x; })) {
      leaf(of, to);
      return;
    }
    Statements body;
    const auto outside = indices_;
    for (const auto& loop : of.loops) indices_[loop.axes.front()] = variable(index_name(axis(loop.axes.front())));
    for (const auto& entry : of.body) nest(std::get<Nest>(entry), body);
    indices_ = outside;
    for (auto loop_of = of.loops.rbegin(); loop_of != of.loops.rend(); ++loop_of)
      body = {loop(index_name(axis(loop_of->axes.front())), integer(program_.extent(loop_of->axes.front())),
                   block(std::move(body)),
                   loop_of->place == LoopPlace::unrolled ? LoopStyle::unrolled : LoopStyle::rolled)};
    to.insert(to.end(), body.begin(), body.end());
  }

  /// A nest over items.
  void leaf(const Nest& of, Statements& to) {
    if (barriers_.contains(&of)) to.push_back(barrier());
    const auto outside = indices_;
    registers_.clear();
    Statements body;
    std::vector<NodePtr> conditions;
    const Loop* in_turns = nullptr;
    NodePtr number; // It is the index of the item in a loop in turns.
    for (const auto& loop : of.loops) {
      if (loop.place == LoopPlace::turns) {
        in_turns = &loop;
        const int total = program_.product_of_extents(loop.axes), items = schedule_.items[0];
        number = total <= items ? item(0) : iadd(imul(variable("turn"), integer(items)), item(0));
        if (total % items != 0) conditions.push_back(ilt(number, integer(total)));
        bind_counted(loop.axes, number, body);
        continue;
      }
      const int place = loop.place == LoopPlace::item_x ? 0 : 1;
      indices_[loop.axes.front()] = item(place);
      if (program_.extent(loop.axes.front()) < schedule_.items[static_cast<std::size_t>(place)])
        conditions.push_back(ilt(item(place), integer(program_.extent(loop.axes.front()))));
    }
    const bool has_own_points = has_evaluation(of) && in_turns != nullptr;
    if (has_own_points)
      for (const int of_axis : program_.point_axes) {
        const std::string name = PointStage::axis_variable(axis(of_axis).direction);
        body.push_back(ilet(name, indices_.at(of_axis)));
        indices_[of_axis] = variable(name);
      }
    for (const auto& entry : of.body) perform(std::get<Do>(entry), body);
    indices_ = outside;
    for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition)
      body = {branch(*condition, block(std::move(body)), block({}))};
    if (in_turns != nullptr) {
      const int total = program_.product_of_extents(in_turns->axes), items = schedule_.items[0];
      if (total > items) body = {loop("turn", integer((total + items - 1) / items), block(std::move(body)))};
    }
    to.insert(to.end(), body.begin(), body.end());
  }
  bool has_evaluation(const Nest& of) const {
    return std::ranges::any_of(of.body, [&](const auto& entry) { return evaluates(program_, std::get<Do>(entry)); });
  }
  /// The indices of axes that are counted as one.
  void bind_counted(const std::vector<int>& axes, NodePtr number, Statements& to) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (i == 0) {
        indices_[axes[i]] = number;
        break;
      }
      const int extent = program_.extent(axes[i]);
      const NodePtr rest = context_.define_integer(to, "o", idiv(number, extent));
      indices_[axes[i]] = context_.define_integer(to, "i", isub(number, imul(rest, integer(extent))));
      number = rest;
    }
  }

  // --- what is done in a nest ----------------------------------------------------------------------------------------
  void perform(const Do& what, Statements& to) {
    if (what.action == Do::Action::clear) {
      each_entry(program_, what.array, indices_, [&](int c, const EntryIndices& at) {
        memories_.overwrite(what.to, what.array, c, at, context_.number(0), to);
      });
      return;
    }
    if (what.action == Do::Action::copy) {
      each_entry(program_, what.array, indices_, [&](int c, const EntryIndices& at) {
        memories_.store(what.to, what.array, c, at, memories_.load(what.from, what.array, c, at), false, to);
      });
      return;
    }
    const auto& step = program_.steps[static_cast<std::size_t>(what.step)];
    switch (step.kind) {
    case StepKind::gather:
      return read_field(step, memory_of(schedule_, step.target, what.to), to);
    case StepKind::load_nodes:
      return read_nodes(step, memory_of(schedule_, step.target, what.to), to);
    case StepKind::contract:
      return contract(step, what, to);
    case StepKind::evaluate: {
      PointStage at_point = stage_;
      return at_point.at_point(to);
    }
    case StepKind::weigh:
      return weigh(step, memory_of(schedule_, step.target, what.to), to);
    case StepKind::scatter:
      return write_field(step, memory_of(schedule_, step.source, what.from), to);
    default:
      throw base::InternalError("schedule: a step that schedules do not have");
    }
  }

  void contract(const kernel::Step& step, const Do& what, Statements& to) {
    const auto& family = program_.families[static_cast<std::size_t>(step.family)];
    const auto& matrix = program_.matrix_of(step);
    const int row_axis = family.rows.front(), col_axis = family.cols.front();
    const int from = memory_of(schedule_, step.source, what.from), into = memory_of(schedule_, step.target, what.to);
    // The loops around give the free index, or, of what is marched, the summed one.
    const NodePtr marched = what.is_marched ? indices_.at(col_axis) : nullptr;
    const auto outside = indices_;
    if (what.is_marched) indices_.erase(row_axis);
    each_entry(program_, step.target, indices_, [&](int c, const EntryIndices& at) {
      NodePtr total;
      for (int k = 0; k < (what.is_marched ? 1 : matrix.cols); ++k) {
        const NodePtr col = what.is_marched ? marched : integer(k);
        const NodePtr factor = matrix_entry(matrix, at.at(row_axis), col);
        if (factor->kind == Kind::number && factor->value == 0) continue;
        EntryIndices of_source = at;
        of_source[col_axis] = col;
        total = with_term(total, operation(ScalarOp::mul, {factor, value_of(from, step.source, c, of_source, to)}));
      }
      if (total == nullptr) total = context_.number(0);
      if (into >= 0)
        memories_.store(into, step.target, c, at, total, step.accumulate, to);
      else
        registers_[{step.target, c}] = context_.define(to, "v", total);
    });
    indices_ = outside;
  }
  NodePtr matrix_entry(const kernel::ReferenceMatrix& matrix, const NodePtr& row, const NodePtr& col) {
    if (row->kind == Kind::integer && col->kind == Kind::integer)
      return context_.number(matrix(static_cast<int>(row->integer), static_cast<int>(col->integer)));
    const std::string table = context_.reals(matrix.name + "_", matrix.values);
    return context_.load(table, iadd(imul(row, integer(matrix.cols)), col));
  }
  NodePtr value_of(int from, int array, int component, const EntryIndices& at, Statements& to) {
    if (from < 0) return registers_.at({array, component});
    return context_.define(to, "u", memories_.load(from, array, component, at));
  }

  // --- the QFunction ------------------------------------------------------------------------------------------------
  NodePtr read(const kernel::Slot& slot) const {
    const int from = memory_of(schedule_, slot.array);
    return from < 0 ? registers_.at({slot.array, slot.component})
                    : memories_.load(from, slot.array, slot.component, indices_);
  }
  void write(const kernel::Slot& slot, NodePtr value, Statements& to) {
    const int into = memory_of(schedule_, slot.array);
    if (into >= 0)
      memories_.store(into, slot.array, slot.component, indices_, std::move(value), false, to);
    else
      registers_[{slot.array, slot.component}] = context_.define(to, "f", std::move(value));
  }

  // --- between arrays and memory outside ----------------------------------------------------------------------------
  void read_field(const kernel::Step& step, int into, Statements& to) {
    const auto field = static_cast<std::size_t>(step.field);
    const DofAccess access(context_, context_.input.access.input_spaces[field], program_.inputs[field].components);
    const std::string vector = context_.global(role::input_vector, context_.input.input_vectors[field]);
    each_dof(step.target, [&](const EntryIndices& at) {
      access.each_component(number_in_cell(program_, step.target, at), to,
                            [&](Statements& body, const NodePtr& index, int c, bool) {
                              memories_.store(into, step.target, c, at, context_.fetch(vector, index), false, body);
                            });
    });
  }
  void read_nodes(const kernel::Step& step, int into, Statements& to) {
    const int nodes = program_.geometry->num_dofs(), dim = program_.tdim;
    const std::string source = context_.global(role::nodes);
    each_entry(program_, step.target, indices_, [&](int c, const EntryIndices& at) {
      const NodePtr node = iadd(imul(context_.data_row(), integer(nodes)), number_in_cell(program_, step.target, at));
      const NodePtr place = iadd(imul(node, integer(dim)), integer(c));
      memories_.store(into, step.target, c, at, context_.fetch(source, context_.cell_entry(place)), false, to);
    });
  }
  /// Calls f(indices) for the first component alone.
  void each_dof(int array, const std::function<void(const EntryIndices&)>& f) const {
    each_entry(program_, array, indices_, [&](int c, const EntryIndices& at) {
      if (c == 0) f(at);
    });
  }
  void weigh(const kernel::Step& step, int in, Statements& to) {
    const std::string weights = context_.global(role::weights);
    each_entry(program_, step.target, indices_, [&](int c, const EntryIndices& at) {
      const NodePtr weight = context_.fetch(weights, number_in_cell(program_, step.target, at));
      memories_.overwrite(in, step.target, c, at,
                          operation(ScalarOp::mul, {weight, memories_.load(in, step.target, c, at)}), to);
    });
  }
  void write_field(const kernel::Step& step, int from, Statements& to) {
    const auto field = static_cast<std::size_t>(step.field);
    const int components = program_.outputs[field].components;
    const int number = context_.input.output_vectors[field];
    if (has_cell_vectors(context_.plan)) {
      const std::string vector = context_.global(role::cell_vector, number, Type::real, true);
      const int num_dofs = program_.num_entries(step.source);
      each_entry(program_, step.source, indices_, [&](int c, const EntryIndices& at) {
        const NodePtr line = iadd(imul(context_.batch(), integer(components)), integer(c));
        const NodePtr place =
            context_.cell_entry(iadd(imul(line, integer(num_dofs)), number_in_cell(program_, step.source, at)));
        to.push_back(store(vector, place, context_.fitting(vector, memories_.load(from, step.source, c, at))));
      });
      return;
    }
    const DofAccess access(context_, context_.input.access.output_spaces[field], components);
    const std::string vector = context_.global(role::output_vector, number, Type::real, true);
    Statements adding;
    each_dof(step.source, [&](const EntryIndices& at) {
      access.each_component(number_in_cell(program_, step.source, at), adding,
                            [&](Statements& body, const NodePtr& index, int c, bool is_interior) {
                              const NodePtr value = context_.fitting(vector, memories_.load(from, step.source, c, at));
                              body.push_back(is_interior ? add(vector, index, value)
                                                         : atomic_add(vector, index, value));
                            });
    });
    to.push_back(branch(ilt(context_.at_cell(integer(0)), context_.num_active()), block(std::move(adding)), block({})));
  }

  Context context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  ScheduleMemories memories_;
  int num_passes_;
  std::set<const Nest*> barriers_;
  PointStage stage_;
  EntryIndices indices_;                             ///< those that the loops around give
  std::map<std::pair<int, int>, NodePtr> registers_; ///< values of this nest alone, by array and component
};

} // namespace

bool can_schedule(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  const bool has_tests_alone =
      !program.function.outputs.empty() && std::ranges::all_of(program.function.outputs, [](const auto& output) {
        return output.kind == kernel::OutputKind::test;
      });
  const auto is_whole = [](const kernel::FieldUse& use) { return use.places.empty() && use.trial_element == nullptr; };
  return input.target.has_groups && program.is_grid() && program.tdim > 1 && program.masks.empty() && has_tests_alone &&
         std::ranges::all_of(program.inputs, is_whole) && std::ranges::all_of(program.outputs, is_whole) &&
         !input.has_lists && plan[key::scatter] != Scatter::coloured;
}

LoopProgram lower(const LoweringInput& input, const Plan& plan, const Schedule& schedule) {
  verify(*input.program, schedule);
  return ScheduleLowering(input, plan, schedule).run();
}

} // namespace rafter::schedule
