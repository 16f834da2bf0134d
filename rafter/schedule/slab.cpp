// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/slab.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/schedule_lowering.hpp>

namespace rafter::schedule {

namespace {

class Slab {
public:
  Slab(const kernel::TensorProgram& program, const CollocatedStages& stages)
      : program_(program), stages_(stages), last_(program.tdim - 1) {}

  Schedule run() && {
    for (const auto& field : stages_.fields) read(field);
    for (const auto& result : stages_.results) prepare(result);
    march();
    for (const auto& result : stages_.results) write(result);
    schedule_.items = {program_.points_along(0), last_ == 2 ? program_.points_along(1) : 1};
    return std::move(schedule_);
  }

private:
  int target(int step) const { return program_.steps[static_cast<std::size_t>(step)].target; }
  int source(int step) const { return program_.steps[static_cast<std::size_t>(step)].source; }

  // --- parts of the schedule ----------------------------------------------------------------------------------------
  std::vector<int> inner() const { return last_ == 2 ? std::vector{1, 0} : std::vector{0}; } // slowest first
  int memory(std::string name, Space space, std::vector<int> keeps, std::vector<int> arrays) {
    schedule_.memories.push_back({.name = std::move(name),
                                  .space = space,
                                  .keeps = std::move(keeps),
                                  .places = {std::move(arrays)},
                                  .padding = space == Space::shared ? 1 : 0});
    return static_cast<int>(schedule_.memories.size()) - 1;
  }
  int fibre(const std::string& name, int array) { return memory(name, Space::work, {last_}, {array}); }
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
  static Do step_of(int step, int from, int to) { return {.step = step, .from = from, .to = to}; }
  static Do copy_of(int array, int from, int to) {
    return {.action = Do::Action::copy, .array = array, .from = from, .to = to};
  }

  /// A field from its dofs to a fibre of values in the points: along the axes of a layer through shared memory, then
  /// along the last one in registers.
  void read(const FieldSteps& field) {
    const std::string number = std::to_string(fields_.size());
    FieldMemories memories{.fibre = fibre("x" + number, field.values)};
    const bool interpolates = !field.interpolation.empty();
    const int dofs = interpolates ? fibre("dofs" + number, field.dofs) : memories.fibre;
    add(layer(field.dofs, {step_of(field.reading, -1, dofs)}));
    const bool has_inner = field.derivatives[0] >= 0 || (last_ == 2 && field.derivatives[1] >= 0);
    if (has_inner || interpolates)
      memories.shared = memory("layer" + number, Space::shared, inner(), {field.values, field.dofs});
    memories.shared_is_read = has_inner;
    if (interpolates) {
      const int fine = contract_layers(number, field.dofs, dofs, memories.shared, field.interpolation);
      add(layer(field.values, {step_of(field.interpolation.back(), fine, memories.fibre)}));
    }
    fields_.push_back(memories);
  }
  /// Contractions along the axes of a layer, layer by layer; the memory of fibres that they leave.
  int contract_layers(const std::string& number, int array, int fibres, int shared, std::span<const int> steps) {
    const int done = fibre("fibre" + number, target(steps[static_cast<std::size_t>(last_) - 1]));
    Nest nest = nest_of({over_axis(program_, array, last_, LoopPlace::unrolled)}, {});
    nest.body.emplace_back(layer(array, {copy_of(array, fibres, shared)}));
    int from = shared;
    for (int turn = 0; turn < last_; ++turn) {
      const int step = steps[static_cast<std::size_t>(turn)];
      const int into = turn + 1 < last_ ? memory("inner" + number, Space::shared, inner(), {target(step)}) : done;
      nest.body.emplace_back(layer(target(step), {step_of(step, from, into)}));
      from = into;
    }
    add(std::move(nest));
    return done;
  }

  void prepare(const ResultSteps& result) {
    const std::string number = std::to_string(results_.size());
    for (int direction = 0; direction < last_; ++direction)
      if (const int step = result.derivatives[static_cast<std::size_t>(direction)]; step >= 0)
        (void)memory((direction == 0 ? "flux" : "second") + number, Space::shared, inner(), {source(step)});
    results_.push_back(fibre("y" + number, result.total));
  }

  /// The march over layers: derivatives, QFunction, transposed derivatives.
  void march() {
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const int total = stages_.results[r].total;
      add(layer(total, {{.action = Do::Action::clear, .array = total, .to = results_[r]}}));
    }
    Nest nest{.loops = {{{program_.point_axes.front()}, LoopPlace::unrolled}}, .body = {}};
    const int points = stages_.fields.empty() ? stages_.results.front().total : stages_.fields.front().values;
    std::vector<Do> copies, at_points, behind;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto& field = stages_.fields[f];
      if (fields_[f].shared_is_read) copies.push_back(copy_of(field.values, fields_[f].fibre, fields_[f].shared));
      for (int direction = 0; direction <= last_; ++direction)
        if (const int step = field.derivatives[static_cast<std::size_t>(direction)]; step >= 0)
          at_points.push_back(step_of(step, direction == last_ ? fields_[f].fibre : fields_[f].shared, -1));
    }
    at_points.push_back({.step = stages_.evaluation});
    for (std::size_t r = 0; r < results_.size(); ++r)
      for (int direction = 0; direction <= last_; ++direction)
        if (const int step = stages_.results[r].derivatives[static_cast<std::size_t>(direction)]; step >= 0)
          (direction == last_ ? at_points : behind)
              .push_back({.step = step, .to = results_[r], .is_marched = direction == last_});
    for (auto* what : {&copies, &at_points, &behind})
      if (!what->empty()) nest.body.emplace_back(layer(points, std::move(*what)));
    add(std::move(nest));
  }

  /// A fibre of results to the dofs: weights, or the transposed interpolation.
  void write(const ResultSteps& result) {
    const std::string number = "_" + std::to_string(num_written_);
    int array = result.total, fibres = results_[num_written_++];
    if (result.weighing >= 0)
      add(layer(array, {step_of(result.weighing, -1, fibres)}));
    else {
      const int first = result.restriction.front();
      const int coarse = fibre("coarse" + number, target(first));
      add(layer(array, {step_of(first, fibres, coarse)}));
      array = target(first);
      const int shared = memory("layer" + number, Space::shared, inner(), {array});
      fibres = contract_layers(number, array, coarse, shared, std::span(result.restriction).subspan(1));
      array = target(result.restriction.back());
    }
    add(layer(array, {step_of(result.writing, fibres, -1)}));
  }

  struct FieldMemories {
    int fibre = -1, shared = -1;
    bool shared_is_read = false; ///< derivatives are taken along axes of the layer
  };
  const kernel::TensorProgram& program_;
  const CollocatedStages& stages_;
  int last_; ///< direction of the march
  Schedule schedule_;
  std::vector<FieldMemories> fields_;
  std::vector<int> results_; ///< memories of fibres
  std::size_t num_written_ = 0;
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
  auto result = Slab(program, *stages).run();
  if (!take_cells(result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_slab() {
  static constexpr std::array<const Key*, 3> keys{&key::vector_width, &key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
