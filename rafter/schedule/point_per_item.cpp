// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/point_per_item.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/schedule_lowering.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

/// The steps by stages. Those that make what the QFunction alone reads at the same point belong to its stage.
std::vector<std::vector<int>> stages_of(const kernel::TensorProgram& program) {
  const auto is_for_points = [&](const kernel::Step& step) {
    if (!program.contracts(step)) return false;
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
    const auto continues = [&] { return step.accumulate && program.step(result.back().back()).target == step.target; };
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

} // namespace

std::optional<Schedule> schedule_point_per_item(const LoweringInput& input, const Plan& plan) {
  constexpr int enough = 256;
  const auto& program = *input.program;
  if (!can_have_points_in_items(input, plan)) return std::nullopt;
  const auto stages = stages_of(program);
  Schedule result;
  int most = 1;
  for (const auto& steps : stages) {
    const auto& step = program.step(steps.back());
    const int array = step.target >= 0 ? step.target : step.source;
    const auto axes = step.kind == StepKind::evaluate
                          ? program.point_axes
                          : std::vector<int>(program.array(array).axes.begin() + 1, program.array(array).axes.end());
    most = std::max(most, program.product_of_extents(axes));
    Nest stage{.loops = {{axes, LoopPlace::turns}}, .body = {}};
    for (const int number : steps) stage.body.emplace_back(Do{.step = number});
    result.nest.body.emplace_back(std::move(stage));
  }
  place_arrays(program, plan, result, {});
  result.items = {std::min({most, enough, input.target.most_items}), 1};
  if (!take_cells(result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_point_per_item() {
  static constexpr std::array<const Key*, 3> keys{&key::vector_width, &key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
