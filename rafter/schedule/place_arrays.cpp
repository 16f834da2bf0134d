// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/place_arrays.hpp>

#include <algorithm>
#include <functional>
#include <span>

#include <rafter/schedule/context.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/nest_uses.hpp>

namespace rafter::schedule {

namespace {

using kernel::AccessKind;
using kernel::FamilyKind;
using kernel::StepKind;

bool gives(const Nest& nest, int axis) { return loop_over(nest, axis) != nullptr; }

class ArrayPlacer {
public:
  ArrayPlacer(const kernel::TensorProgram& program, const Plan& plan, Schedule& schedule, const Placing& how)
      : program_(program), plan_(plan), schedule_(schedule), how_(how), uses_(uses_of(program, schedule)) {}

  void run() {
    for (std::size_t m = 0; m < schedule_.memories.size(); ++m)
      for (const auto& place : schedule_.memories[m].places)
        for (const int array : place) keep_indices(schedule_.memories[m], uses_in(array, static_cast<int>(m)));
    for (std::size_t a = 0; a < program_.arrays.size(); ++a) {
      const auto array = static_cast<int>(a);
      if (const auto uses = uses_in(array, -1); !uses.empty() && !stays_in_registers(uses)) place(array, uses);
    }
    const int layer = how_.has_layers ? padded_layer(plan_, schedule_.cell_place, most_of_layer()) : 0;
    if (how_.has_layers)
      for (auto& memory : placed_)
        if (has_layers(memory)) memory.layer = layer;
    if (how_.has_turns) take_turns();
    put_in_front();
  }

private:
  UsesOfArray uses_in(int array, int memory) const {
    UsesOfArray result;
    for (const auto& use : uses_)
      if (use.array == array && use.memory == memory) result.push_back(&use);
    return result;
  }

  /// Says whether one nest alone uses an array, entry by entry or by lines, before a child nest or behind it.
  bool stays_in_registers(const UsesOfArray& uses) const {
    const int array = uses.front()->array;
    if (memory_of(schedule_, array) >= 0 || is_in_parts(array)) return false; // else it would be meant
    const auto& nest = *uses.front()->around.back();
    const auto& axes = program_.array(array).axes;
    const auto gives_none = [&](const auto& of) {
      return std::ranges::none_of(of, [&](int axis) { return gives(nest, axis); });
    };
    return std::ranges::all_of(uses, [&](const ArrayUse* use) {
      if (use->stretch != uses.front()->stretch || use->what->action != Do::Action::step || !gives_none(use->opened))
        return false;
      const auto is_given = [&](int axis) {
        return std::ranges::any_of(use->around, [&](const Nest* around) { return gives(*around, axis); });
      };
      if (std::ranges::any_of(use->in_place, is_given)) return false; // registers have no variable index
      const auto& step = program_.step(use->what->step);
      if (program_.contracts(step)) // numbers that are the same in all lanes stand in memory
        return use->what->rows == 0 && (how_.points_in_lanes == 0 || use->writes || program_.direction_of(step) != 0);
      if (step.kind == StepKind::evaluate || step.kind == StepKind::evaluate_cell || step.kind == StepKind::multiply ||
          program_.contracts(step, FamilyKind::weights) || goes_by_entries(program_, step))
        return true;
      const bool goes_by_components = program_.moves(step, AccessKind::input) ||
                                      program_.moves(step, AccessKind::output) ||
                                      program_.contracts(step, FamilyKind::butterflies);
      return goes_by_components && gives(nest, axes.front()) && gives_none(std::span(axes).subspan(1));
    });
  }

  // --- the indices that a memory keeps -------------------------------------------------------------------------------
  /// Says whether loops around all uses give the index of an axis, in the same turn.
  bool is_given(int axis, const UsesOfArray& uses) const {
    const auto nests = std::span(uses.front()->around).first(num_common_nests(uses));
    return std::ranges::none_of(uses, [&](const ArrayUse* use) { return use->opens(axis); }) &&
           std::ranges::any_of(nests, [&](const Nest* nest) { return gives(*nest, axis); });
  }
  /// Says whether the index of an axis is that of the item, along the same axis of the group in each use.
  static bool is_of_item(int axis, const UsesOfArray& uses) {
    const auto place_of = [&](const ArrayUse* use) {
      const Loop* loop = loop_over(*use->around.back(), axis);
      return loop == nullptr || use->opens(axis) ? LoopPlace::serial : loop->place;
    };
    const auto place = place_of(uses.front());
    return (place == LoopPlace::item_x || place == LoopPlace::item_y) &&
           std::ranges::all_of(uses, [&](const ArrayUse* use) { return place_of(use) == place; });
  }
  /// Says whether each item uses entries of its own alone: where items hold an index, they do so in every use.
  bool is_owned(const UsesOfArray& uses) const {
    return std::ranges::all_of(program_.array(uses.front()->array).axes, [&](int axis) {
      const bool is_of_items = std::ranges::any_of(uses, [&](const ArrayUse* use) {
        const Loop* loop = loop_over(*use->around.back(), axis);
        return loop != nullptr && is_over_items(*loop);
      });
      return !is_of_items || is_of_item(axis, uses);
    });
  }
  void keep_indices(Memory& memory, const UsesOfArray& uses) const {
    if (uses.empty()) return;
    bool keeps_component = false;
    std::vector<int> kept = memory.keeps;
    for (const int each : program_.array(uses.front()->array).axes) {
      const bool is_kept = !is_given(each, uses) && (memory.space == Space::shared || !is_of_item(each, uses));
      if (program_.axis(each).kind == kernel::AxisKind::component)
        keeps_component = keeps_component || is_kept;
      else if (is_kept && program_.axis(each).direction >= 0)
        kept.push_back(program_.axis(each).direction);
      else if (!is_kept && program_.axis(each).direction < 0)
        memory.drops.push_back(each);
    }
    std::ranges::sort(kept, std::greater<>()); // the last reference axis is the slowest
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    memory.keeps = std::move(kept);
    memory.is_of_component = memory.is_of_component && !keeps_component;
  }

  // --- memories ------------------------------------------------------------------------------------------------------
  bool is_in_parts(int array) const { return std::ranges::find(how_.in_parts, array) != how_.in_parts.end(); }
  void place(int array, const UsesOfArray& uses) {
    const bool is_shared = schedule_.cell_place == CellPlace::group && !is_owned(uses), has_parts = is_in_parts(array);
    Memory memory{.name = array_name(program_, array),
                  .space = is_shared || has_parts ? Space::shared : Space::work,
                  .keeps = {},
                  .places = {{array}},
                  .padding = is_shared ? how_.padding : 0,
                  .is_of_component = true,
                  .points_in_lanes = how_.points_in_lanes,
                  .spare = has_parts ? how_.behind_parts : 0};
    keep_indices(memory, uses);
    placed_.push_back(std::move(memory));
  }
  bool keeps_last(const Memory& memory) const {
    return std::ranges::find(memory.keeps, program_.tdim - 1) != memory.keeps.end();
  }
  bool has_layers(const Memory& memory) const {
    return memory.keeps.size() > 1 && (keeps_last(memory) || !memory.is_of_component);
  }
  /// The most entries that one component of an array has at an index along the last reference axis.
  int most_of_layer() const {
    int result = 1;
    for (const auto& memory : placed_) {
      if (!has_layers(memory)) continue;
      int entries = 1;
      for (const int each : program_.array(memory.places.front().front()).axes)
        if (program_.axis(each).direction >= 0 && program_.axis(each).direction < program_.tdim - 1)
          entries *= extent_in(program_, memory, each);
      result = std::max(result, entries);
    }
    return result;
  }
  /// Puts arrays into memories before them in which they may stand in turn: that which grows least, the last of these.
  void take_turns() {
    std::vector<Memory> result;
    for (auto& memory : placed_) {
      Memory* best = nullptr;
      int least = 0;
      for (auto& before : result) {
        if (before.space != memory.space || before.keeps != memory.keeps || before.drops != memory.drops ||
            before.layer != memory.layer)
          continue;
        const Memory both = joined(before, memory);
        const int growth = size_of(program_, both) - size_of(program_, before);
        const bool moves = growth > 0 || both.is_of_component != before.is_of_component; // what stands there already
        if (growth > (best != nullptr ? least : size_of(program_, memory)) || !can_be_in_turn(both, moves)) continue;
        best = &before;
        least = growth;
      }
      if (best == nullptr)
        result.push_back(std::move(memory));
      else
        *best = joined(*best, memory);
    }
    placed_ = std::move(result);
  }
  static Memory joined(Memory before, const Memory& memory) {
    before.places.front().push_back(memory.places.front().front());
    before.is_of_component = before.is_of_component && memory.is_of_component;
    return before;
  }
  /// Looks at the last array and each of the others, or at all pairs where layers of a longer array, or components,
  /// move the others.
  bool can_be_in_turn(const Memory& memory, bool moves) const {
    const auto& arrays = memory.places.front();
    for (std::size_t i = arrays.size() - 1; i > 0; i = moves ? i - 1 : 0)
      for (std::size_t j = 0; j < i; ++j)
        if (!can_stand_in_turn(program_, memory, uses_in(arrays[j], -1), uses_in(arrays[i], -1))) return false;
    return true;
  }
  /// Memories stand before those that the schedule had, whose numbers change; copies, and what is cleared, name them.
  void put_in_front() {
    const auto count = static_cast<int>(placed_.size());
    schedule_.memories.insert(schedule_.memories.begin(), placed_.begin(), placed_.end());
    const std::function<void(Nest&)> name = [&](Nest& nest) {
      for (auto& entry : nest.body) {
        auto* what = std::get_if<Do>(&entry);
        if (what == nullptr) {
          name(std::get<Nest>(entry));
          continue;
        }
        for (int* memory : {&what->from, &what->to, &what->sum}) *memory += *memory >= 0 ? count : 0;
        if (what->array >= 0 && what->to < 0 && !what->is_in_registers) what->to = memory_of(schedule_, what->array);
      }
    };
    name(schedule_.nest);
  }

  const kernel::TensorProgram& program_;
  const Plan& plan_;
  Schedule& schedule_;
  const Placing& how_;
  std::vector<ArrayUse> uses_;
  std::vector<Memory> placed_;
};

} // namespace

void place_arrays(const kernel::TensorProgram& program, const Plan& plan, Schedule& schedule, const Placing& how) {
  ArrayPlacer(program, plan, schedule, how).run();
}

} // namespace rafter::schedule
