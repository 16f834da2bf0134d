// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/barriers.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

void require_that(bool condition, const std::string& what) {
  if (!condition) throw base::InternalError("schedule: " + what);
}

/// Goes through the nests in order and notes what stands where.
class ScheduleVerifier {
public:
  ScheduleVerifier(const kernel::TensorProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule), times_done_(program.steps.size(), 0) {}

  void run() {
    require_that(schedule_.items[0] > 0 && schedule_.items[1] > 0 && schedule_.cells > 0, "a group without items");
    for (const auto& memory : schedule_.memories)
      for (const auto& place : memory.places)
        for (const int array : place)
          require_that(array >= 0 && array < static_cast<int>(program_.arrays.size()),
                       "memory " + memory.name + " holds an unknown array");
    visit(schedule_.nest);
    for (std::size_t s = 0; s < times_done_.size(); ++s)
      require_that(times_done_[s] == 1, fmt::format("step {} is done {} times", s, times_done_[s]));
  }

private:
  void visit(const Nest& nest) {
    const auto num_bound = bound_.size();
    bool has_items = false;
    std::set<LoopPlace> over_items;
    for (const auto& loop : nest.loops) {
      require_that(!loop.axes.empty() && (loop.place == LoopPlace::turns || loop.axes.size() == 1),
                   "only loops in turns count several axes as one");
      const bool is_over_items = loop.place >= LoopPlace::item_x;
      has_items = has_items || is_over_items;
      require_that(!is_over_items || over_items.insert(loop.place).second, "two loops of a nest over the same items");
      for (const int axis : loop.axes) {
        require_that(axis >= 0 && axis < static_cast<int>(program_.axes.size()), "a loop over an unknown axis");
        require_that(std::ranges::find(bound_, axis) == bound_.end(), "two loops over axis " + name_of_axis(axis));
        bound_.push_back(axis);
        if (is_over_items) by_items_.insert(axis);
      }
      if (loop.place == LoopPlace::item_x || loop.place == LoopPlace::item_y)
        require_that(program_.extent(loop.axes.front()) <= schedule_.items[loop.place == LoopPlace::item_x ? 0 : 1],
                     "axis " + name_of_axis(loop.axes.front()) + " has more indices than the group has items");
    }
    if (has_items) check_items(over_items);
    in_registers_.clear();
    for (const auto& entry : nest.body) {
      require_that(std::holds_alternative<Do>(entry) == has_items,
                   "nests over items hold what is done, others hold nests");
      if (const auto* what = std::get_if<Do>(&entry))
        check(*what);
      else
        visit(std::get<Nest>(entry));
    }
    bound_.resize(num_bound);
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
    for (const int memory : {what.from, what.to})
      require_that(memory < static_cast<int>(schedule_.memories.size()), "an unknown memory");
    if (what.action != Do::Action::step) {
      if (what.action == Do::Action::copy) read(what.array, what.from);
      if (what.action == Do::Action::clear) is_cleared_.insert({what.array, what.to});
      write(what.array, what.to);
      return;
    }
    require_that(what.step >= 0 && what.step < static_cast<int>(program_.steps.size()), "an unknown step");
    ++times_done_[static_cast<std::size_t>(what.step)];
    const auto& step = program_.steps[static_cast<std::size_t>(what.step)];
    if (step.kind == StepKind::evaluate) {
      for (const auto& input : program_.input_slots) read(input.slot.array, -1);
      std::set<int> arrays; // outputs are components of arrays
      for (const auto& output : program_.output_slots) arrays.insert(output.array);
      for (const int array : arrays) {
        make(array, -1, false);
        write(array, -1);
      }
      return;
    }
    const bool sums = step.kind == StepKind::contract && !what.is_marched;
    if (step.source >= 0) read(step.source, what.from, sums ? family_of(step).cols : std::vector<int>{});
    if (step.kind == StepKind::weigh) read(step.target, what.to);
    if (step.target < 0) return;
    if (step.kind != StepKind::weigh) make(step.target, what.to, step.accumulate || what.is_marched);
    write(step.target, what.to, what.is_marched ? family_of(step).rows : std::vector<int>{});
  }

  /// Notes that a step makes an array, or adds to it. What it adds to must be there, and what it sets must not be lost.
  void make(int array, int given, bool adds) {
    const int memory = memory_of(schedule_, array, given);
    if (memory < 0) return;
    require_that(!adds || is_written_.contains({array, memory}), name_of(array) + " is added to before it is written");
    const bool is_new = is_made_.insert({array, memory}).second;
    require_that(is_new || adds || is_cleared_.contains({array, memory}), name_of(array) + " is set by two steps");
  }

  const kernel::MatrixFamily& family_of(const kernel::Step& step) const {
    return program_.families[static_cast<std::size_t>(step.family)];
  }
  std::string name_of(int array) const { return program_.array(array).name; }
  std::string name_of_axis(int axis) const { return program_.axes[static_cast<std::size_t>(axis)].name; }
  bool is_bound(int axis) const { return std::ranges::find(bound_, axis) != bound_.end(); }
  /// Checks that loops give the indices that a memory does not keep of an array, but for those of axes that a step sums
  /// or writes out (`but`), and that items do not share entries.
  void check_indices(int array, int memory, const std::vector<int>& but) const {
    const auto& in = schedule_.memories[static_cast<std::size_t>(memory)];
    const bool is_held =
        std::ranges::any_of(in.places, [&](const auto& of) { return std::ranges::find(of, array) != of.end(); });
    require_that(is_held, "memory " + in.name + " does not hold " + name_of(array));
    for (const int axis : program_.array(array).axes) {
      const int direction = program_.axes[static_cast<std::size_t>(axis)].direction;
      const bool is_kept = direction < 0 || std::ranges::find(in.keeps, direction) != in.keeps.end();
      require_that(is_kept || in.space != Space::shared || !by_items_.contains(axis),
                   fmt::format("items would share the entries of {} in memory {}", name_of(array), in.name));
      require_that(
          is_kept || (is_bound(axis) && std::ranges::find(but, axis) == but.end()),
          fmt::format("no loop gives the index {} of {} in memory {}", name_of_axis(axis), name_of(array), in.name));
    }
  }
  void read(int array, int given, const std::vector<int>& summed = {}) {
    const int memory = memory_of(schedule_, array, given);
    if (memory < 0) {
      require_that(in_registers_.contains(array), name_of(array) + " is read in another nest than it is made in");
      return;
    }
    check_indices(array, memory, summed);
    require_that(is_written_.contains({array, memory}), name_of(array) + " is read before it is written");
  }
  void write(int array, int given, const std::vector<int>& written_out = {}) {
    const int memory = memory_of(schedule_, array, given);
    if (memory < 0) {
      in_registers_.insert(array);
      return;
    }
    check_indices(array, memory, written_out);
    for (const auto& place : schedule_.memories[static_cast<std::size_t>(memory)].places)
      if (std::ranges::find(place, array) != place.end())
        for (const int other : place) is_written_.erase({other, memory}); // they stand there in turn
    is_written_.insert({array, memory});
  }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::vector<int> times_done_;
  std::vector<int> bound_; ///< axes of the loops around
  std::set<int> in_registers_;
  std::set<int> by_items_; ///< those of them whose indices items hold
  // Array and memory: what stands there now, what steps have made, and what was cleared.
  std::set<std::pair<int, int>> is_written_, is_made_, is_cleared_;
};

} // namespace

void verify(const kernel::TensorProgram& program, const Schedule& schedule) {
  ScheduleVerifier(program, schedule).run();
}

} // namespace rafter::schedule
