// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/slab.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/schedule_lowering.hpp>

namespace rafter::schedule {

namespace {

class Slab {
public:
  Slab(const kernel::TensorProgram& program, const CollocatedStages& stages)
      : program_(program), stages_(stages), last_(program.tdim - 1) {}

  Schedule run(const Plan& plan) && {
    for (const auto& field : stages_.fields) read(field);
    march();
    for (const auto& result : stages_.results) write(result);
    schedule_.items = {program_.points_along(0), last_ == 2 ? program_.points_along(1) : 1};
    place_arrays(program_, plan, schedule_, {.has_turns = false, .padding = 1});
    return std::move(schedule_);
  }

private:
  // --- parts of the schedule ----------------------------------------------------------------------------------------
  /// A layer of arrays, in turn, beside the fibres in which they stand otherwise.
  int shared_layer(std::vector<int> arrays) {
    const auto number = static_cast<int>(schedule_.memories.size());
    schedule_.memories.push_back({.name = fmt::format("layer{}", number),
                                  .space = Space::shared,
                                  .keeps = {},
                                  .places = {std::move(arrays)},
                                  .padding = 1});
    return number;
  }
  /// A nest over the items of a layer, which hold the indices of an array.
  Nest layer(int array, std::vector<Do> what) const {
    Nest result;
    for (int direction = last_ - 1; direction >= 0; --direction)
      result.loops.push_back(
          over_axis(program_, array, direction, direction == 0 ? LoopPlace::item_x : LoopPlace::item_y));
    for (auto& each : what) result.body.emplace_back(each);
    return result;
  }
  void add(Nest nest) { schedule_.nest.body.emplace_back(std::move(nest)); }
  static Do copy_of(int array, int to) { return {.action = Do::Action::copy, .array = array, .to = to}; }

  /// A field from its dofs to a fibre of values in the points: along the axes of a layer through shared memory, then
  /// along the last one in registers.
  void read(const FieldSteps& field) {
    add(layer(field.dofs, {{.step = field.reading}}));
    const bool has_inner = field.derivatives[0] >= 0 || (last_ == 2 && field.derivatives[1] >= 0);
    const bool interpolates = !field.interpolation.empty();
    const auto arrays = interpolates ? std::vector{field.values, field.dofs} : std::vector{field.values};
    shared_.push_back(has_inner || interpolates ? shared_layer(arrays) : -1);
    if (interpolates) {
      contract_layers(field.dofs, shared_.back(), field.interpolation);
      add(layer(field.values, {{.step = field.interpolation.back()}}));
    }
    if (!has_inner) shared_.back() = -1;
  }
  /// Contractions along the axes of a layer, layer by layer, from fibres to fibres.
  void contract_layers(int array, int shared, std::span<const int> steps) {
    Nest nest = nest_of({over_axis(program_, array, last_, LoopPlace::unrolled)}, {});
    nest.body.emplace_back(layer(array, {copy_of(array, shared)}));
    for (const int step : steps.first(static_cast<std::size_t>(last_))) {
      const bool is_first = program_.step(step).source == array;
      nest.body.emplace_back(layer(program_.step(step).target, {{.step = step, .from = is_first ? shared : -1}}));
    }
    add(std::move(nest));
  }

  /// The march over layers: derivatives, QFunction, transposed derivatives.
  void march() {
    for (const auto& result : stages_.results)
      add(layer(result.total, {{.action = Do::Action::clear, .array = result.total}}));
    Nest nest{.loops = {{{program_.point_axes.front()}, LoopPlace::unrolled}}, .body = {}};
    const int points = stages_.fields.empty() ? stages_.results.front().total : stages_.fields.front().values;
    std::vector<Do> copies, at_points, behind;
    for (std::size_t f = 0; f < shared_.size(); ++f) {
      const auto& field = stages_.fields[f];
      if (shared_[f] >= 0) copies.push_back(copy_of(field.values, shared_[f]));
      for (int direction = 0; direction <= last_; ++direction)
        if (const int step = field.derivatives[static_cast<std::size_t>(direction)]; step >= 0)
          at_points.push_back({.step = step, .from = direction == last_ ? -1 : shared_[f]});
    }
    at_points.push_back({.step = stages_.evaluation});
    for (const auto& result : stages_.results)
      for (int direction = 0; direction <= last_; ++direction)
        if (const int step = result.derivatives[static_cast<std::size_t>(direction)]; step >= 0)
          (direction == last_ ? at_points : behind).push_back({.step = step, .is_marched = direction == last_});
    for (auto* what : {&copies, &at_points, &behind})
      if (!what->empty()) nest.body.emplace_back(layer(points, std::move(*what)));
    add(std::move(nest));
  }

  /// A fibre of results to the dofs: weights, or the transposed interpolation.
  void write(const ResultSteps& result) {
    int array = result.total;
    if (result.weighing >= 0)
      add(layer(array, {{.step = result.weighing}}));
    else {
      const int first = result.restriction.front();
      add(layer(array, {{.step = first}}));
      array = program_.step(first).target;
      contract_layers(array, shared_layer({array}), std::span(result.restriction).subspan(1));
      array = program_.step(result.restriction.back()).target;
    }
    add(layer(array, {{.step = result.writing}}));
  }

  const kernel::TensorProgram& program_;
  const CollocatedStages& stages_;
  int last_; ///< direction of the march
  Schedule schedule_;
  std::vector<int> shared_; ///< memories of layers from which fields are derived along their axes, or -1
};

} // namespace

std::optional<Schedule> schedule_slab(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  if (!can_have_points_in_items(input, plan)) return std::nullopt;
  const auto stages = collocated_stages(program);
  if (!stages || stages->results.empty()) return std::nullopt;
  const auto has_items_for = [&](const FieldSteps& field) { // The items of a layer hold its points, or dofs.
    for (int direction = 0; direction + 1 < program.tdim; ++direction)
      if (program.product_of_extents(over_axis(program, field.dofs, direction).axes) > program.points_along(direction))
        return false;
    return true;
  };
  if (!std::ranges::all_of(stages->fields, has_items_for)) return std::nullopt;
  auto result = Slab(program, *stages).run(plan);
  if (!take_cells(result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_slab() {
  static constexpr std::array<const Key*, 3> keys{&key::vector_width, &key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
