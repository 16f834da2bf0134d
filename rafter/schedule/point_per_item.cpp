// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/point_per_item.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
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

/// The steps by stages. Those that make what the QFunction alone reads at the same point belong to its stage.
std::vector<std::vector<int>> stages_of(const kernel::TensorProgram& program) {
  const auto is_for_points = [&](const kernel::Step& step) {
    if (step.kind != StepKind::contract) return false;
    const auto& axes = program.array(step.target).axes;
    const bool is_read_elsewhere =
        std::ranges::any_of(program.steps, [&](const auto& other) { return other.source == step.target; });
    return !is_read_elsewhere && !step.accumulate && std::ranges::equal(std::span(axes).subspan(1), program.point_axes);
  };
  std::vector<std::vector<int>> result;
  std::vector<int> of_points;
  bool is_evaluated = false;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const auto& step = program.steps[s];
    const auto number = static_cast<int>(s);
    const auto continues = [&] {
      return step.accumulate && program.steps[static_cast<std::size_t>(result.back().back())].target == step.target;
    };
    if (step.kind == StepKind::evaluate) {
      of_points.push_back(number);
      result.push_back(std::move(of_points));
      is_evaluated = true;
    } else if (!is_evaluated && is_for_points(step))
      of_points.push_back(number);
    else if (!result.empty() && continues())
      result.back().push_back(number);
    else
      result.push_back({number});
  }
  return result;
}

/// Arrays by places: an array takes the place of one that no later stage needs, if there is such a place. Arrays that
/// one stage makes and needs have none.
std::vector<std::vector<int>> places_in_turn(const kernel::TensorProgram& program,
                                             const std::vector<std::vector<int>>& stages) {
  constexpr std::size_t unused = ~std::size_t{0};
  std::vector<std::size_t> first_use(program.arrays.size(), unused), last_use(program.arrays.size());
  const auto each_use = [&](const auto& f) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const int step : stages[s])
        for (const int array : arrays_of(program, program.steps[static_cast<std::size_t>(step)]))
          f(s, static_cast<std::size_t>(array));
  };
  each_use([&](std::size_t stage, std::size_t array) {
    first_use[array] = std::min(first_use[array], stage);
    last_use[array] = stage;
  });
  std::vector<std::vector<int>> places;
  std::vector<bool> has_place(program.arrays.size());
  each_use([&](std::size_t stage, std::size_t array) {
    if (has_place[array] || first_use[array] == last_use[array]) return;
    has_place[array] = true;
    const auto place = std::ranges::find_if(places, [&](const std::vector<int>& arrays) {
      return last_use[static_cast<std::size_t>(arrays.back())] < stage;
    });
    if (place != places.end())
      place->push_back(static_cast<int>(array));
    else
      places.push_back({static_cast<int>(array)});
  });
  return places;
}

} // namespace

std::optional<Schedule> schedule_point_per_item(const LoweringInput& input, const Plan& plan) {
  constexpr int enough = 256;
  const auto& program = *input.program;
  if (!can_have_points_in_items(input, plan)) return std::nullopt;
  const auto stages = stages_of(program);
  Schedule result;
  std::vector<int> directions;
  for (int direction = program.tdim - 1; direction >= 0; --direction) directions.push_back(direction);
  result.memories.push_back(
      {.name = "arrays", .space = Space::shared, .keeps = directions, .places = places_in_turn(program, stages)});
  int most = 1;
  for (const auto& steps : stages) {
    const auto& step = program.steps[static_cast<std::size_t>(steps.back())];
    const int array = step.target >= 0 ? step.target : step.source;
    const auto axes = step.kind == StepKind::evaluate
                          ? program.point_axes
                          : std::vector<int>(program.array(array).axes.begin() + 1, program.array(array).axes.end());
    most = std::max(most, program.product_of_extents(axes));
    Nest stage{.loops = {{axes, LoopPlace::turns}}, .body = {}};
    for (const int number : steps) stage.body.emplace_back(Do{.step = number});
    result.nest.body.emplace_back(std::move(stage));
  }
  result.items = {std::min({most, enough, input.target.most_items}), 1};
  if (!take_cells(result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_point_per_item() {
  static constexpr std::array<const Key*, 3> keys{&key::vector_width, &key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
