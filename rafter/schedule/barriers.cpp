// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/barriers.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/schedule/nest_uses.hpp>

namespace rafter::schedule {

namespace {

/// A touch of one place of a shared memory.
struct Touch {
  std::pair<int, std::size_t> place; ///< memory, number of the place
  bool writes = false;
  std::string owner; ///< how items own the entries that they touch; "": they touch those of others, too
};

class Barriers {
public:
  Barriers(const kernel::TensorProgram& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::set<const Nest*> run(bool has_passes) {
    const bool has_shared =
        std::ranges::any_of(schedule_.memories, [](const Memory& memory) { return memory.space == Space::shared; });
    if (!has_shared || schedule_.cell_place != CellPlace::group)
      return {}; // Items that hold cells have their own parts.
    for (int turn = 0; turn < (has_passes ? 2 : 1); ++turn) visit(schedule_.nest);
    return std::move(result_);
  }

private:
  void visit(const Nest& nest) {
    if (std::ranges::any_of(nest.loops, is_over_items)) return leaf(nest);
    for (int turn = 0; turn < (nest.loops.empty() ? 1 : 2); ++turn) // what the end leaves meets the begin
      for (const auto& entry : nest.body) visit(std::get<Nest>(entry));
  }

  void leaf(const Nest& nest) {
    const auto touches = touches_of(nest);
    const auto meets = [&](const Touch& touch) {
      return std::ranges::any_of(since_, [&](const Touch& earlier) {
        const bool is_own = !touch.owner.empty() && touch.owner == earlier.owner;
        return touch.place == earlier.place && (touch.writes || earlier.writes) && !is_own;
      });
    };
    if (std::ranges::any_of(touches, meets)) result_.insert(&nest);
    if (result_.contains(&nest)) since_.clear();
    since_.insert(since_.end(), touches.begin(), touches.end());
  }

  std::vector<Touch> touches_of(const Nest& nest) {
    std::vector<Touch> result;
    for (const auto& entry : nest.body)
      for (const auto& use : uses_of(program_, schedule_, std::get<Do>(entry))) {
        const int memory = memory_of(schedule_, use.array, use.memory);
        if (memory < 0 || schedule_.memories[static_cast<std::size_t>(memory)].space != Space::shared) continue;
        const auto& places = schedule_.memories[static_cast<std::size_t>(memory)].places;
        const auto place = std::ranges::find_if(
            places, [&](const auto& arrays) { return std::ranges::find(arrays, use.array) != arrays.end(); });
        const bool is_own = binds_all(nest, use, memory);
        result.push_back({{memory, static_cast<std::size_t>(place - places.begin())},
                          use.writes,
                          is_own ? owner_of(nest, use.array, memory) : ""});
      }
    return result;
  }
  /// Says whether a use takes all indices along reference axes that a memory keeps from the loops of a nest.
  bool binds_all(const Nest& nest, const ArrayUse& use, int memory) const {
    const auto& keeps = schedule_.memories[static_cast<std::size_t>(memory)].keeps;
    return std::ranges::all_of(program_.array(use.array).axes, [&](int axis) {
      const bool is_kept = std::ranges::find(keeps, program_.axis(axis).direction) != keeps.end();
      return !is_kept || (loop_over(nest, axis) != nullptr && !use.opens(axis));
    });
  }
  /// How items own entries: what their numbers count, and how far apart these entries lie.
  std::string owner_of(const Nest& nest, int array, int memory) const {
    std::string result;
    for (const auto& loop : nest.loops) {
      result += fmt::format("{}:", static_cast<int>(loop.place));
      for (const int axis : loop.axes)
        result += loop.place == LoopPlace::turns ? fmt::format("{} ", program_.extent(axis))
                                                 : fmt::format("{} ", program_.axis(axis).direction);
    }
    result += "of";
    for (const int direction : schedule_.memories[static_cast<std::size_t>(memory)].keeps)
      for (const int axis : program_.array(array).axes)
        if (program_.axis(axis).direction == direction) result += fmt::format(" {}", program_.extent(axis));
    return result;
  }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::set<const Nest*> result_;
  std::vector<Touch> since_; ///< touches since the last wait
};

} // namespace

std::set<const Nest*> barriers_of(const kernel::TensorProgram& program, const Schedule& schedule, bool has_passes) {
  return Barriers(program, schedule).run(has_passes);
}

} // namespace rafter::schedule
