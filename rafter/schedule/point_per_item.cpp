// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/point_per_item.hpp>

#include <algorithm>
#include <array>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/schedule_lowering.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

/// Arrays that a step reads and writes.
std::vector<int> arrays_of(const kernel::TensorProgram& program, const kernel::Step& step) {
  std::vector<int> result;
  if (step.kind == StepKind::evaluate) {
    for (const auto& input : program.input_slots) result.push_back(input.slot.array);
    for (const auto& output : program.output_slots) result.push_back(output.array);
  }
  for (const int array : {step.source, step.target})
    if (array >= 0) result.push_back(array);
  return result;
}

/// Arrays by slots: an array takes the slot of one that no step needs any more, if there is such a slot.
std::vector<std::vector<int>> slots_in_turn(const kernel::TensorProgram& program) {
  std::vector<std::size_t> last_use(program.arrays.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (const int array : arrays_of(program, program.steps[s])) last_use[static_cast<std::size_t>(array)] = s;
  std::vector<std::vector<int>> slots;
  std::vector<bool> has_slot(program.arrays.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (const int array : arrays_of(program, program.steps[s])) {
      if (has_slot[static_cast<std::size_t>(array)]) continue;
      has_slot[static_cast<std::size_t>(array)] = true;
      const auto is_free = [&](const std::vector<int>& slot) {
        return last_use[static_cast<std::size_t>(slot.back())] < s;
      };
      const auto slot = std::ranges::find_if(slots, is_free);
      if (slot != slots.end())
        slot->push_back(array);
      else
        slots.push_back({array});
    }
  return slots;
}

} // namespace

std::optional<Schedule> schedule_point_per_item(const LoweringInput& input, const Plan& plan) {
  constexpr int enough = 256;
  const auto& program = *input.program;
  if (!can_schedule(input, plan)) return std::nullopt;
  Schedule result;
  std::vector<int> directions;
  for (int direction = program.tdim - 1; direction >= 0; --direction) directions.push_back(direction);
  result.memories.push_back(
      {.name = "arrays", .space = Space::shared, .keeps = directions, .slots = slots_in_turn(program)});
  int most = 1;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const auto& step = program.steps[s];
    const int array = step.target >= 0 ? step.target : step.source;
    const auto axes = step.kind == StepKind::evaluate
                          ? program.point_axes
                          : std::vector<int>(program.array(array).axes.begin() + 1, program.array(array).axes.end());
    most = std::max(most, program.product_of_extents(axes));
    Nest stage{.loops = {{axes, Place::turns}}, .body = {}};
    stage.body.emplace_back(Do{.step = static_cast<int>(s)});
    result.nest.body.emplace_back(std::move(stage));
  }
  result.items = {std::min({most, enough, input.target.most_items}), 1};
  if (!take_cells(result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_point_per_item() {
  static constexpr std::array<const Key*, 2> keys{&key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
