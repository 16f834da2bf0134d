// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule_lowering.hpp>

#include <algorithm>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/schedule/barriers.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/group_batches.hpp>
#include <rafter/schedule/nest_steps.hpp>

namespace rafter::schedule {

namespace {

class ScheduleLowering {
public:
  ScheduleLowering(const LoweringInput& input, const Plan& plan, const Schedule& schedule)
      : context_(input, plan, schedule), program_(*input.program), schedule_(schedule), steps_(context_, schedule),
        num_passes_((input.program->batches.cells_per_batch + schedule.cells - 1) / schedule.cells),
        barriers_(barriers_of(program_, schedule, num_passes_ > 1)) {}

  LoopProgram run() {
    switch (schedule_.cell_place) {
    case CellPlace::group:
      return with_points_in_items();
    case CellPlace::in_turn: {
      auto of_cell = nest_statements(); // before the number of cells, so that buffers have one order
      context_.result.body =
          block(context_.with_numbers_of_batch({loop("cell", context_.num_active(), block(std::move(of_cell)))}));
      return std::move(context_.result);
    }
    default:
      if (schedule_.subbatches > 1) context_.subbatch_of_pass = variable("subbatch");
      return context_.in_groups() ? in_groups(context_, whole_batch(context_, nest_statements()))
                                  : finished(context_, nest_statements());
    }
  }

private:
  EntryIndices& indices() { return steps_.values().indices; }

  LoopProgram with_points_in_items() {
    Statements of_cells;
    const NodePtr cell = iadd(num_passes_ > 1 ? imul(variable("pass"), integer(schedule_.cells)) : integer(0), item(2));
    of_cells.push_back(ilet("cell", cell));
    bind_items(of_cells);
    steps_.stage().at_cell(of_cells);
    is_stage_begun_ = true;
    nest(schedule_.nest, of_cells);
    Statements body{ilet("own_batch", variable("batch"))};
    if (num_passes_ > 1) of_cells = {loop("pass", integer(num_passes_), block(std::move(of_cells)))};
    const auto rest = context_.with_numbers_of_batch(std::move(of_cells));
    body.insert(body.end(), rest.begin(), rest.end());
    context_.result.launch = {.items = {schedule_.items[0], schedule_.items[1], schedule_.cells}, .batches = 1};
    context_.result.body = block(std::move(body));
    return std::move(context_.result);
  }
  Statements nest_statements() {
    Statements result;
    nest(schedule_.nest, result);
    return result;
  }

  // --- nests --------------------------------------------------------------------------------------------------------
  /// The points of items that stand for the same ones in all nests: what depends on them alone is computed once.
  void bind_items(Statements& to) {
    const Nest* nest = nest_of_evaluation(schedule_.nest);
    if (nest == nullptr) return;
    std::vector<int> directions;
    for (const auto& loop : nest->loops) {
      if (loop.place != LoopPlace::item_x && loop.place != LoopPlace::item_y) continue;
      const auto& points = program_.axis(loop.axes.front());
      const int along = loop.place == LoopPlace::item_x ? 0 : 1;
      if (points.kind != kernel::AxisKind::point || points.extent != schedule_.items[static_cast<std::size_t>(along)])
        continue;
      to.push_back(ilet(PointStage::axis_variable(points.direction), item(along)));
      directions.push_back(points.direction);
    }
    steps_.stage().at_axes(directions, to);
  }
  /// The innermost nest in which the QFunction is evaluated.
  const Nest* nest_of_evaluation(const Nest& of) const {
    if (!evaluates(program_, of)) return nullptr;
    for (const auto& entry : of.body)
      if (const auto* inside = std::get_if<Nest>(&entry))
        if (const Nest* found = nest_of_evaluation(*inside); found != nullptr) return found;
    return &of;
  }

  void nest(const Nest& of, Statements& to) {
    if (std::ranges::any_of(of.loops, is_over_items)) {
      over_items(of, to);
      return;
    }
    const auto has_loop_over = [&](LoopPlace place) {
      return std::ranges::find(of.loops, place, &Loop::place) != of.loops.end();
    };
    const bool has_cells = has_loop_over(LoopPlace::cells),
               is_over_cells = has_cells || has_loop_over(LoopPlace::subbatches);
    const bool has_evaluation = evaluates(program_, of);
    if (has_evaluation && !of.loops.empty() && !is_over_cells && !is_stage_begun_) {
      steps_.stage().at_cell(to);
      is_stage_begun_ = true;
    }
    const auto outside = indices();
    const auto known = steps_.stage().known();
    const auto lanes = context_.parallel_axis;
    if (has_cells) context_.parallel_axis = ParallelAxis::point;
    std::vector<std::pair<std::string, Statements>> levels; // name of the variable, statements before what is inside
    const auto loops = loops_of(of);
    for (const auto& loop : loops) {
      levels.emplace_back(has_evaluation ? name_of_points(loop) : "", Statements{});
      auto& [name, statements] = levels.back();
      const bool is_of_points = !name.empty();
      if (!is_of_points)
        name = loop.place == LoopPlace::subbatches ? "subbatch"
               : loop.place == LoopPlace::cells    ? "cell"
                                                   : context_.fresh(letter_of(loop));
      bind(loop.axes, variable(name));
      if (is_of_points && program_.is_grid()) at_points_of(program_.axis(loop.axes.front()).direction, statements);
    }
    Statements body;
    inside(of, body);
    indices() = outside;
    steps_.stage().restore(known);
    const auto count_of = [&](const Loop& loop) {
      return loop.place == LoopPlace::subbatches ? schedule_.subbatches
             : loop.place == LoopPlace::cells    ? context_.plan[key::vector_width]
                                                 : context_.product_of_indices(loop.axes);
    };
    for (std::size_t l = loops.size(); l-- > 0;) {
      const auto& loop_of = loops[l];
      auto& [name, statements] = levels[l];
      statements.insert(statements.end(), body.begin(), body.end());
      body = {loop(name, integer(count_of(loop_of)), block(std::move(statements)),
                   loop_of.place == LoopPlace::unrolled ? LoopStyle::unrolled : LoopStyle::rolled)};
    }
    context_.parallel_axis = lanes;
    to.insert(to.end(), body.begin(), body.end());
  }
  /// The loops of a nest, whose indices are given, without those of one turn around what is written out.
  std::vector<Loop> loops_of(const Nest& of) {
    const bool is_written_out = std::ranges::all_of(of.body, [&](const auto& entry) {
      const auto* what = std::get_if<Do>(&entry);
      return what != nullptr && what->rows == 0;
    });
    std::vector<Loop> result;
    for (const auto& loop : of.loops)
      if (is_written_out && loop.place == LoopPlace::serial && context_.product_of_indices(loop.axes) == 1 &&
          !evaluates(program_, of))
        bind(loop.axes, integer(0));
      else
        result.push_back(loop);
    return result;
  }
  void inside(const Nest& of, Statements& to) {
    for (std::size_t i = 0; i < of.body.size(); ++i)
      if (const auto* what = std::get_if<Do>(&of.body[i])) {
        steps_.values().go_to(of, i);
        steps_.perform(*what, to);
      } else {
        steps_.values().forget();
        nest(std::get<Nest>(of.body[i]), to);
        steps_.values().forget();
      }
  }
  /// What of the QFunction depends on this reference axis and slower ones alone.
  void at_points_of(int direction, Statements& to) {
    if (schedule_.cell_place != CellPlace::group) steps_.stage().at_axis(direction, to);
  }
  /// The variable by which the QFunction knows the points of a loop; "" for other loops.
  std::string name_of_points(const Loop& loop) const {
    if (loop.axes.size() != 1 || std::ranges::find(program_.point_axes, loop.axes.front()) == program_.point_axes.end())
      return "";
    return program_.is_grid() ? PointStage::axis_variable(program_.axis(loop.axes.front()).direction) : "q";
  }
  std::string letter_of(const Loop& loop) const {
    return program_.axis(loop.axes.front()).kind == kernel::AxisKind::component ? "c" : "i";
  }
  /// Axes that are counted as one stand side by side in memory: the index of the last one gives all.
  void bind(const std::vector<int>& axes, const NodePtr& number) {
    for (const int of : axes) indices()[of] = integer(0);
    if (!axes.empty()) indices()[axes.back()] = number;
  }

  void over_items(const Nest& of, Statements& to) {
    if (barriers_.contains(&of)) to.push_back(barrier());
    const auto outside = indices();
    Statements body;
    std::vector<NodePtr> conditions;
    std::vector<std::pair<std::string, const Loop*>> inner; // what each item does one after the other
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
      if (!is_over_items(loop)) {
        std::string name = evaluates(program_, of) ? name_of_points(loop) : "";
        if (name.empty()) name = context_.fresh(letter_of(loop));
        bind(loop.axes, variable(name));
        inner.emplace_back(std::move(name), &loop);
        continue;
      }
      const int place = loop.place == LoopPlace::item_x ? 0 : 1;
      indices()[loop.axes.front()] = item(place);
      if (program_.extent(loop.axes.front()) < schedule_.items[static_cast<std::size_t>(place)])
        conditions.push_back(ilt(item(place), integer(program_.extent(loop.axes.front()))));
    }
    if (in_turns != nullptr && evaluates(program_, of))
      for (const int of_axis : program_.point_axes) {
        const std::string name = PointStage::axis_variable(program_.axis(of_axis).direction);
        body.push_back(ilet(name, indices().at(of_axis)));
        indices()[of_axis] = variable(name);
      }
    inside(of, body);
    indices() = outside;
    for (auto each = inner.rbegin(); each != inner.rend(); ++each)
      body = {loop(each->first, integer(context_.product_of_indices(each->second->axes)), block(std::move(body)),
                   each->second->place == LoopPlace::unrolled ? LoopStyle::unrolled : LoopStyle::rolled)};
    for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition)
      body = {branch(*condition, block(std::move(body)), block({}))};
    if (in_turns != nullptr) {
      const int total = program_.product_of_extents(in_turns->axes), items = schedule_.items[0];
      if (total > items) body = {loop("turn", integer((total + items - 1) / items), block(std::move(body)))};
    }
    to.insert(to.end(), body.begin(), body.end());
  }
  /// The indices of axes that are counted as one, each by itself.
  void bind_counted(const std::vector<int>& axes, NodePtr number, Statements& to) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (i == 0) {
        indices()[axes[i]] = number;
        break;
      }
      const int extent = program_.extent(axes[i]);
      const NodePtr rest = context_.define_integer(to, "o", idiv(number, extent));
      indices()[axes[i]] = context_.define_integer(to, "i", isub(number, imul(rest, integer(extent))));
      number = rest;
    }
  }

  Context context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  NestSteps steps_;
  int num_passes_;
  bool is_stage_begun_ = false; ///< what of the QFunction depends on the cell alone is computed
  std::set<const Nest*> barriers_;
};

} // namespace

LoopProgram lower(const LoweringInput& input, const Plan& plan, const Schedule& schedule) {
  const auto& program = *input.program;
  verify(program, schedule);
  for (const auto* fields : {&program.inputs, &program.outputs})
    for (const auto& use : *fields)
      if (use.trial_element == nullptr && (use.pattern < 0 || use.pattern >= std::ssize(program.batches.patterns)))
        throw base::InternalError("schedule: a field has no gather pattern");
  if (schedule.way != way_of(plan))
    throw base::InternalError("schedule: results are added in another way than the plan says");
  for (const auto& memory : schedule.memories)
    if (memory.points_in_lanes != 0 && memory.points_in_lanes != plan[key::vector_width])
      throw base::InternalError("schedule: memory " + memory.name + " has other lanes than the plan");
  return ScheduleLowering(input, plan, schedule).run();
}

} // namespace rafter::schedule
