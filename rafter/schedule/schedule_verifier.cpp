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
      for (const auto& slot : memory.slots)
        for (const int array : slot)
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
    for (const auto& loop : nest.loops) {
      require_that(!loop.axes.empty() && (loop.place == LoopPlace::turns || loop.axes.size() == 1),
                   "only loops in turns count several axes as one");
      has_items = has_items || loop.place >= LoopPlace::item_x;
      for (const int axis : loop.axes) {
        require_that(axis >= 0 && axis < static_cast<int>(program_.axes.size()), "a loop over an unknown axis");
        require_that(std::ranges::find(bound_, axis) == bound_.end(), "two loops over axis " + name_of_axis(axis));
        bound_.push_back(axis);
      }
      if (loop.place == LoopPlace::item_x || loop.place == LoopPlace::item_y)
        require_that(program_.extent(loop.axes.front()) <= schedule_.items[loop.place == LoopPlace::item_x ? 0 : 1],
                     "axis " + name_of_axis(loop.axes.front()) + " has more indices than the group has items");
    }
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
  }

  void check(const Do& what) {
    for (const int memory : {what.from, what.to})
      require_that(memory < static_cast<int>(schedule_.memories.size()), "an unknown memory");
    if (what.action != Do::Action::step) {
      if (what.action == Do::Action::copy) read(what.array, what.from);
      write(what.array, what.to);
      return;
    }
    require_that(what.step >= 0 && what.step < static_cast<int>(program_.steps.size()), "an unknown step");
    ++times_done_[static_cast<std::size_t>(what.step)];
    const auto& step = program_.steps[static_cast<std::size_t>(what.step)];
    if (step.kind == StepKind::evaluate) {
      for (const auto& input : program_.input_slots) read(input.slot.array, -1);
      for (const auto& output : program_.output_slots) write(output.array, -1);
      return;
    }
    if (step.source >= 0) read(step.source, what.from, step);
    if (step.kind == StepKind::weigh) read(step.target, what.to);
    if (step.target >= 0) write(step.target, what.to, what.is_marched ? &step : nullptr);
  }

  std::string name_of(int array) const { return program_.array(array).name; }
  std::string name_of_axis(int axis) const { return program_.axes[static_cast<std::size_t>(axis)].name; }
  bool is_bound(int axis) const { return std::ranges::find(bound_, axis) != bound_.end(); }
  /// Checks that loops give the indices that a memory does not keep of an array; `but`: an axis that the step sums.
  void check_indices(int array, int memory, const std::vector<int>& but) const {
    const auto& in = schedule_.memories[static_cast<std::size_t>(memory)];
    const bool is_held =
        std::ranges::any_of(in.slots, [&](const auto& slot) { return std::ranges::find(slot, array) != slot.end(); });
    require_that(is_held, "memory " + in.name + " does not hold " + name_of(array));
    for (const int axis : program_.array(array).axes) {
      const int direction = program_.axes[static_cast<std::size_t>(axis)].direction;
      const bool is_kept = direction < 0 || std::ranges::find(in.keeps, direction) != in.keeps.end();
      require_that(
          is_kept || (is_bound(axis) && std::ranges::find(but, axis) == but.end()),
          fmt::format("no loop gives the index {} of {} in memory {}", name_of_axis(axis), name_of(array), in.name));
    }
  }
  void read(int array, int given, const kernel::Step& step) {
    const bool is_contracted =
        step.kind == StepKind::contract && program_.families[static_cast<std::size_t>(step.family)].cols !=
                                               program_.families[static_cast<std::size_t>(step.family)].rows;
    read(array, given,
         is_contracted ? program_.families[static_cast<std::size_t>(step.family)].cols : std::vector<int>{});
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
  void write(int array, int given, const kernel::Step* marched = nullptr) {
    const int memory = memory_of(schedule_, array, given);
    if (memory < 0) {
      in_registers_.insert(array);
      return;
    }
    check_indices(array, memory,
                  marched == nullptr ? std::vector<int>{}
                                     : program_.families[static_cast<std::size_t>(marched->family)].rows);
    is_written_.insert({array, memory});
  }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::vector<int> times_done_;
  std::vector<int> bound_; ///< axes of the loops around
  std::set<int> in_registers_;
  std::set<std::pair<int, int>> is_written_; ///< array, memory
};

} // namespace

void verify(const kernel::TensorProgram& program, const Schedule& schedule) {
  ScheduleVerifier(program, schedule).run();
}

} // namespace rafter::schedule
