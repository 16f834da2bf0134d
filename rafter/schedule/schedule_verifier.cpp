// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/nest_uses.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

namespace {

using kernel::AccessKind;
using kernel::FamilyKind;
using kernel::StepKind;

void require_that(bool condition, const std::string& what) {
  if (!condition) throw base::InternalError("schedule: " + what);
}

bool is_among(const std::vector<int>& list, int value) { return std::ranges::find(list, value) != list.end(); }

/// Says whether items read, in a nest over them, entries of an array in shared memory that others write there: items do
/// not wait for each other inside a nest.
bool reads_what_others_write(const UsesOfArray& uses) {
  const auto is_over_axis_of_items = [](const Nest& nest, int axis) {
    const Loop* loop = loop_over(nest, axis);
    return loop != nullptr && is_over_items(*loop);
  };
  return std::ranges::any_of(uses, [&](const ArrayUse* written) {
    const Nest* nest = written->around.back();
    return written->writes && std::ranges::any_of(uses, [&](const ArrayUse* used) {
             return used != written && used->around.back() == nest &&
                    std::ranges::any_of(used->opened, [&](int axis) { return is_over_axis_of_items(*nest, axis); });
           });
  });
}

/// Goes through the nests in order and notes what stands where.
class ScheduleVerifier {
public:
  ScheduleVerifier(const kernel::TensorProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule), times_done_(program.steps.size(), 0) {}

  void run() {
    require_that(schedule_.items[0] > 0 && schedule_.items[1] > 0 && schedule_.cells > 0, "a group without items");
    for (const auto& memory : schedule_.memories) {
      require_that(!memory.has_cells || memory.points_in_lanes > 0,
                   "memory " + memory.name + " has cells, but no points in lanes");
      for (const auto& place : memory.places)
        for (const int array : place) {
          require_that(array >= 0 && array < static_cast<int>(program_.arrays.size()),
                       "memory " + memory.name + " holds an unknown array");
          check_layers(memory, array);
        }
    }
    visit(schedule_.nest);
    for (std::size_t s = 0; s < times_done_.size(); ++s)
      require_that(times_done_[s] == 1, fmt::format("step {} is done {} times", s, times_done_[s]));
    check_turns();
  }

private:
  /// Checks that what an array has at one index along an axis fits between this and the next one.
  void check_layers(const Memory& memory, int array) const {
    const auto strides = strides_of(program_, memory, array);
    const auto& axes = program_.array(array).axes;
    int needed = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (strides[i] == 0) continue;
      require_that(strides[i] >= needed, fmt::format("layers of {} overlap in memory {}", name_of(array), memory.name));
      needed = strides[i] * extent_in(program_, memory, axes[i]);
    }
  }
  /// Checks that arrays which stand in one place are needed one after the other.
  void check_turns() const {
    const auto uses = uses_of(program_, schedule_);
    const auto uses_in = [&](int array, std::size_t memory) {
      UsesOfArray result;
      for (const auto& use : uses)
        if (use.array == array && memory_of(schedule_, array, use.memory) == static_cast<int>(memory))
          result.push_back(&use);
      return result;
    };
    for (std::size_t m = 0; m < schedule_.memories.size(); ++m)
      for (const auto& place : schedule_.memories[m].places)
        for (std::size_t i = 0; i < place.size(); ++i) {
          const auto other = uses_in(place[i], m);
          require_that(schedule_.memories[m].space != Space::shared || !reads_what_others_write(other),
                       "items read what others write to " + name_of(place[i]) + " in the same nest");
          for (std::size_t j = 0; j < i; ++j) {
            const auto one = uses_in(place[j], m);
            require_that(one.empty() || other.empty() || can_stand_in_turn(program_, schedule_.memories[m], one, other),
                         fmt::format("{} and {} cannot stand in turn in memory {}", name_of(place[j]),
                                     name_of(place[i]), schedule_.memories[m].name));
          }
        }
  }
  void visit(const Nest& nest) {
    const auto num_bound = bound_.size(), num_counted = counted_.size();
    const bool was_in_cells = is_in_cells_;
    bool has_items = false;
    std::set<LoopPlace> over_items;
    for (const auto& loop : nest.loops) {
      const bool is_over_cells = loop.place == LoopPlace::subbatches || loop.place == LoopPlace::cells;
      require_that(loop.axes.empty() == is_over_cells, "a loop over no axis");
      require_that(loop.axes.size() <= 1 || (loop.place != LoopPlace::item_x && loop.place != LoopPlace::item_y),
                   "loops over items along an axis of a group count one axis");
      const bool is_of_items = is_over_items(loop);
      has_items = has_items || is_of_items;
      require_that(!is_of_items || over_items.insert(loop.place).second, "two loops of a nest over the same items");
      if (loop.place == LoopPlace::cells) {
        require_that(!is_in_cells_ && schedule_.cell_place == CellPlace::lanes && schedule_.subbatches == 1,
                     "a loop over the cells of a sub-batch where none stands in lanes by itself");
        is_in_cells_ = true;
      }
      if (loop.axes.size() > 1 && !is_of_items) counted_.push_back(loop.axes);
      for (const int axis : loop.axes) {
        require_that(axis >= 0 && axis < static_cast<int>(program_.axes.size()), "a loop over an unknown axis");
        require_that(std::ranges::find(bound_, axis) == bound_.end(), "two loops over axis " + name_of_axis(axis));
        bound_.push_back(axis);
        if (is_of_items) by_items_.insert(axis);
      }
      if (loop.place == LoopPlace::item_x || loop.place == LoopPlace::item_y)
        require_that(program_.extent(loop.axes.front()) <= schedule_.items[loop.place == LoopPlace::item_x ? 0 : 1],
                     "axis " + name_of_axis(loop.axes.front()) + " has more indices than the group has items");
    }
    if (has_items) check_items(over_items);
    in_registers_.clear();
    for (const auto& entry : nest.body) {
      if (schedule_.cell_place == CellPlace::group)
        require_that(std::holds_alternative<Do>(entry) == has_items,
                     "nests over items hold what is done, others hold nests");
      if (const auto* what = std::get_if<Do>(&entry))
        check(*what);
      else {
        visit(std::get<Nest>(entry));
        in_registers_.clear();
      }
    }
    is_in_cells_ = was_in_cells;
    bound_.resize(num_bound);
    counted_.resize(num_counted);
    std::erase_if(by_items_, [&](int axis) { return !is_bound(axis); });
  }

  /// Checks that the items of a group do not do the same.
  void check_items(const std::set<LoopPlace>& places) const {
    const bool has_turns = places.contains(LoopPlace::turns);
    require_that(!has_turns || places.size() == 1, "a loop in turns beside another over items");
    require_that(schedule_.items[0] == 1 || has_turns || places.contains(LoopPlace::item_x),
                 "items along the first axis would all do the same");
    require_that(schedule_.items[1] == 1 || places.contains(LoopPlace::item_y),
                 "items along the second axis would all do the same");
  }

  void check(const Do& what) {
    for (const int memory : {what.from, what.to, what.sum})
      require_that(memory < static_cast<int>(schedule_.memories.size()), "an unknown memory");
    if (what.action == Do::Action::begin_integrals || what.action == Do::Action::end_integrals) return;
    if (what.action == Do::Action::step) {
      check_step(what);
    } else {
      require_that(what.to >= 0 || what.is_in_registers, "a copy, or what is cleared, names no memory");
      require_that(what.component < program_.num_components(what.array), "a copy of an unknown component");
      if (what.action == Do::Action::copy) check_copy(what);
      if (what.action == Do::Action::clear) is_cleared_.insert({what.array, what.to});
    }
    check_uses(what);
  }
  void check_step(const Do& what) {
    require_that(what.step >= 0 && what.step < static_cast<int>(program_.steps.size()), "an unknown step");
    ++times_done_[static_cast<std::size_t>(what.step)];
    const auto& step = program_.step(what.step);
    if (step.kind == StepKind::evaluate) {
      check_points();
      const auto goes_there = [&](int array) { return memory_of_output(schedule_, what, array) >= 0; };
      require_that(what.from < 0 && (what.to < 0 || std::ranges::any_of(arrays_made(program_, what), goes_there)),
                   "the QFunction names a memory that holds none of its outputs, or one to read");
    }
    if (program_.contracts(step, FamilyKind::masks) || program_.contracts(step, FamilyKind::butterflies))
      require_that(what.is_in_registers ||
                       memory_of(schedule_, step.target, what.from) == memory_of(schedule_, step.target, what.to),
                   name_of(step.target) + " is changed in place, but in two memories");
    if (program_.moves(step, AccessKind::input) || program_.moves(step, AccessKind::output)) {
      const auto& array = program_.array(step.kind == StepKind::read ? step.target : step.source);
      const bool is_matrix = program_.field_of(program_.access(step.access)).trial_element != nullptr;
      const auto dofs = std::span(array.axes).subspan(1);
      require_that(is_matrix || !is_bound(array.axes.front()) ||
                       std::ranges::none_of(dofs, [&](int axis) { return is_bound(axis); }),
                   "loops give a component and a dof of " + array.name + ", which is moved by components or by dofs");
    }
    if (step.kind == StepKind::multiply)
      for (const int axis : program_.summed_axes(step))
        require_that(what.is_marched || !is_bound(axis),
                     "loops give the index " + name_of_axis(axis) + ", which is summed");
    if (!program_.contracts(step)) return;
    const auto& family = program_.family(step.family);
    for (const int axis : family.cols)
      require_that(what.is_marched || !is_bound(axis) || is_among(family.rows, axis),
                   "loops give the index " + name_of_axis(axis) + ", which is summed");
    require_that(!turns_lanes(what) || !is_in_registers(step.source),
                 name_of(step.source) + " stands in lanes of registers where single numbers of it are needed");
  }
  /// Copies between memories of cells in lanes and of points in lanes turn the one into the other.
  void check_copy(const Do& what) const {
    const int from = memory_of(schedule_, what.array, what.from);
    if (is_in_cells_ || from < 0 || memory(from).points_in_lanes == 0) return;
    const auto is_plain = [](const Memory& of) { return of.layer == 0 && of.padding == 0 && of.places.size() == 1; };
    require_that(what.to >= 0 && memory(from).has_cells && is_plain(memory(from)) && is_plain(memory(what.to)) &&
                     memory(what.to).points_in_lanes == 0 && memory(what.to).spare > 0,
                 name_of(what.array) + " cannot be turned from points in lanes to cells in lanes");
  }
  /// Says whether what is read need not stand in lanes as what is made: by copies, and by contractions from numbers
  /// that are the same in all lanes.
  bool turns_lanes(const Do& what) const {
    if (what.action != Do::Action::step) return true;
    const auto& step = program_.step(what.step);
    return program_.contracts(step) && is_in_cells_ && program_.direction_of(step) == 0;
  }
  /// Checks that what is read, or added to, is there, and that what is set is not lost.
  void check_uses(const Do& what) {
    const auto* step = what.action == Do::Action::step ? &program_.step(what.step) : nullptr;
    for (const auto& use : uses_of(program_, schedule_, what)) {
      const int in = memory_of(schedule_, use.array, use.memory);
      if (use.writes) {
        if (in < 0)
          in_registers_.insert({use.array, what.component});
        else
          check_write(use, in, what, step);
        continue;
      }
      const bool is_of_function = step != nullptr && step->kind == StepKind::evaluate;
      if (is_in_registers(use.array) || (is_of_function && has_slots_in_registers(use.array))) continue;
      require_that(in >= 0, name_of(use.array) + " is read in another nest than it is made in");
      check_indices(use, in, turns_lanes(what) && (step == nullptr || use.array == step->source));
      const bool is_added_to = step != nullptr && program_.contracts(*step) && use.array == step->target;
      require_that(is_written_.contains({use.array, in}),
                   name_of(use.array) + (is_added_to ? " is added to" : " is read") + " before it is written");
    }
    if (what.is_in_registers) in_registers_.insert({step == nullptr ? what.array : step->target, what.component});
  }
  void check_write(const ArrayUse& use, int in, const Do& what, const kernel::Step* step) {
    check_indices(use, in, false);
    if (step != nullptr && !works_in_place(*step)) {
      // Several fields may fill an array together, as those of the children of a cell do.
      const bool fills_in_part =
          step->kind == StepKind::read && !program_.fills(program_.access(step->access), step->target);
      const bool is_new = is_made_.insert({use.array, in}).second;
      require_that(is_new || step->accumulate || what.is_marched || fills_in_part ||
                       is_cleared_.contains({use.array, in}),
                   name_of(use.array) + " is set by two steps");
    }
    for (const auto& place : memory(in).places)
      if (is_among(place, use.array))
        for (const int other : place) is_written_.erase({other, in}); // they stand there in turn
    is_written_.insert({use.array, in});
  }
  /// Checks that loops of their own give the indices of points where the QFunction depends on them otherwise than by
  /// the arrays that it reads.
  void check_points() const {
    const auto& function = program_.function;
    const auto dependencies = kernel::dependencies(function);
    const auto knows_points = [&](kernel::NodeId id) {
      const auto& node = function.graph[id];
      const bool is_stored = node.op == form::ScalarOp::atom && node.atom.kind == kernel::AtomKind::stored_point;
      constexpr unsigned on_axes = kernel::on_axis_0 | kernel::on_axis_0 << 1 | kernel::on_axis_0 << 2;
      return is_stored || (dependencies[static_cast<std::size_t>(id)] & on_axes) != 0;
    };
    if (!std::ranges::any_of(function.graph.reachable(function.roots()), knows_points) &&
        !kernel::has_output(function, kernel::OutputKind::integral) &&
        !kernel::has_output(function, kernel::OutputKind::stored_point))
      return;
    for (const int axis : program_.point_axes)
      require_that(is_bound(axis) &&
                       std::ranges::none_of(counted_, [&](const auto& counted) { return is_among(counted, axis); }),
                   "the QFunction depends on points whose indices no loop of their own gives");
  }
  bool is_in_registers(int array) const {
    for (int c = 0; c < program_.num_components(array); ++c)
      if (!in_registers_.contains({array, c})) return in_registers_.contains({array, -1});
    return true;
  }
  /// Says whether what the QFunction reads of an array is there.
  bool has_slots_in_registers(int array) const {
    return std::ranges::all_of(program_.input_slots, [&](const auto& input) {
      return input.slot.array != array || in_registers_.contains({array, input.slot.component});
    });
  }
  std::string name_of(int array) const { return program_.array(array).name; }
  std::string name_of_axis(int axis) const { return program_.axis(axis).name; }
  bool is_bound(int axis) const { return is_among(bound_, axis); }
  /// Checks that loops give the indices that a memory does not keep of an array, that items do not share entries, and
  /// that axes which a loop counts as one stand side by side.
  void check_indices(const ArrayUse& use, int number, bool is_turned) const {
    const int array = use.array;
    const auto& in = memory(number);
    const bool is_held = std::ranges::any_of(in.places, [&](const auto& of) { return is_among(of, array); });
    require_that(is_held, "memory " + in.name + " does not hold " + name_of(array));
    require_that(is_turned || is_in_cells_ == (in.points_in_lanes > 0),
                 fmt::format("{} is used where lanes of memory {} hold something else", name_of(array), in.name));
    const auto& axes = program_.array(array).axes;
    const auto strides = strides_of(program_, in, array);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const int axis = axes[i];
      const bool is_kept = strides[i] > 0;
      require_that(is_kept || in.space != Space::shared || !by_items_.contains(axis),
                   fmt::format("items would share the entries of {} in memory {}", name_of(array), in.name));
      require_that(
          is_kept || (is_bound(axis) && !use.opens(axis)),
          fmt::format("no loop gives the index {} of {} in memory {}", name_of_axis(axis), name_of(array), in.name));
    }
    for (const auto& counted : counted_)
      require_that(are_side_by_side(counted, axes, strides, in),
                   fmt::format("axes that a loop counts as one do not stand side by side in {}", name_of(array)));
  }
  bool are_side_by_side(const std::vector<int>& counted, const std::vector<int>& axes, const std::vector<int>& strides,
                        const Memory& in) const {
    const auto first = std::ranges::find_first_of(axes, counted);
    if (first == axes.end()) return true;
    auto i = static_cast<std::size_t>(first - axes.begin());
    if (i + counted.size() > axes.size() || !std::equal(counted.begin(), counted.end(), first)) return false;
    for (const std::size_t end = i + counted.size() - 1; i < end; ++i)
      if (strides[i] != strides[i + 1] * extent_in(program_, in, axes[i + 1])) return false;
    return true;
  }
  const Memory& memory(int number) const { return schedule_.memories[static_cast<std::size_t>(number)]; }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::vector<int> times_done_;
  std::vector<int> bound_;                     ///< axes of the loops around
  std::vector<std::vector<int>> counted_;      ///< those of them that loops count as one
  std::set<std::pair<int, int>> in_registers_; ///< arrays, and the component, or -1 for all
  bool is_in_cells_ = false;                   ///< a loop over the cells of a sub-batch is around
  std::set<int> by_items_;                     ///< those of them whose indices items hold
  // Array and memory: what stands there now, what steps have made, and what was cleared.
  std::set<std::pair<int, int>> is_written_, is_made_, is_cleared_;
};

} // namespace

void verify(const kernel::TensorProgram& program, const Schedule& schedule) {
  ScheduleVerifier(program, schedule).run();
}

} // namespace rafter::schedule
