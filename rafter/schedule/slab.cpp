// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/slab.hpp>

#include <algorithm>
#include <array>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/group_cells.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/schedule_lowering.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

class Slab {
public:
  explicit Slab(const kernel::TensorProgram& program)
      : program_(program), last_(program.tdim - 1), march_({{program.point_axes.front()}, LoopPlace::unrolled}) {}

  std::optional<Schedule> run() {
    for (const auto& evaluation : program_.evaluations) read(evaluation);
    for (std::size_t o = 0; o < program_.integrations.size(); ++o) prepare(program_.integrations[o]);
    if (is_declined_) return std::nullopt;
    march();
    for (const auto& integration : program_.integrations)
      if (!is_declined_) write(integration);
    if (is_declined_) return std::nullopt;
    schedule_.items = {program_.points_along(0), last_ == 2 ? program_.points_along(1) : 1};
    return std::move(schedule_);
  }

private:
  // --- parts of the program -----------------------------------------------------------------------------------------
  template <class Matches> int step_where(const Matches& matches) {
    const auto found = std::ranges::find_if(program_.steps, matches);
    if (found == program_.steps.end()) is_declined_ = true;
    return static_cast<int>(found - program_.steps.begin());
  }
  int contraction_of(int source) {
    return step_where([&](const auto& step) { return step.kind == StepKind::contract && step.source == source; });
  }
  /// Contractions from one array to another, along each axis in turn; none where both are one.
  std::vector<int> chain(int from, int to) {
    std::vector<int> result;
    while (from != to && !is_declined_) {
      const int step = step_where([&](const auto& s) {
        return s.kind == StepKind::contract && s.source == from &&
               program_.families[static_cast<std::size_t>(s.family)].rows !=
                   program_.families[static_cast<std::size_t>(s.family)].cols;
      });
      if (is_declined_) break;
      result.push_back(step);
      from = program_.steps[static_cast<std::size_t>(step)].target;
    }
    if (!result.empty() && static_cast<int>(result.size()) != program_.tdim) is_declined_ = true;
    return result;
  }
  int axis_of(int array, int direction) const { // component first, then the last direction
    return program_.array(array).axes[static_cast<std::size_t>(program_.tdim - direction)];
  }
  int target(int step) const { return program_.steps[static_cast<std::size_t>(step)].target; }

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
      result.loops.push_back({{axis_of(array, direction)}, direction == 0 ? LoopPlace::item_x : LoopPlace::item_y});
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
  void read(const kernel::CollocatedEvaluation& v) {
    const std::string number = std::to_string(fields_.size());
    const int reading = step_where([&](const auto& step) {
      return (step.kind == StepKind::gather || step.kind == StepKind::load_nodes) && step.target == v.dofs;
    });
    Field field{.values = v.values, .fibre = fibre("x" + number, v.values)};
    int dofs = field.fibre;
    const auto steps = chain(v.dofs, v.values);
    if (is_declined_) return;
    if (!steps.empty()) dofs = fibre("dofs" + number, v.dofs);
    add(layer(v.dofs, {step_of(reading, -1, dofs)}));
    const bool has_inner = v.derivatives[0] >= 0 || (last_ == 2 && v.derivatives[1] >= 0);
    if (has_inner || !steps.empty())
      field.shared = memory("layer" + number, Space::shared, inner(), {v.values, v.dofs});
    for (int direction = 0; direction < last_; ++direction)
      if (v.derivatives[static_cast<std::size_t>(direction)] >= 0) field.shared_is_read = true;
    if (!steps.empty()) {
      const int fine = interpolate(number, v.dofs, dofs, field.shared, steps);
      add(layer(v.values, {step_of(steps.back(), fine, field.fibre)}));
    }
    for (const int array : v.derivatives)
      if (array >= 0)
        field.derivatives.push_back(
            step_where([&](const auto& step) { return step.kind == StepKind::contract && step.target == array; }));
    fields_.push_back(std::move(field));
  }
  /// All contractions of a chain but the last, layer by layer; the memory of fibres that they leave.
  int interpolate(const std::string& number, int array, int fibres, int shared, const std::vector<int>& steps) {
    const int done = fibre("fibre" + number, target(steps[static_cast<std::size_t>(last_) - 1]));
    Nest nest{.loops = {{{axis_of(array, last_)}, LoopPlace::unrolled}}, .body = {}};
    nest.body.emplace_back(layer(array, {copy_of(array, fibres, shared)}));
    int from = shared;
    for (int direction = 0; direction < last_; ++direction) {
      const int step = steps[static_cast<std::size_t>(direction)];
      const int into = direction + 1 < last_ ? memory("inner" + number, Space::shared, inner(), {target(step)}) : done;
      nest.body.emplace_back(layer(target(step), {step_of(step, from, into)}));
      from = into;
    }
    add(std::move(nest));
    return done;
  }

  void prepare(const kernel::CollocatedIntegration& w) {
    const std::string number = std::to_string(results_.size());
    Result result;
    for (int direction = 0; direction <= last_; ++direction) {
      const int array = w.derivatives[static_cast<std::size_t>(direction)];
      if (array < 0) continue;
      const int step = contraction_of(array);
      if (is_declined_) return;
      result.total = target(step);
      if (direction == last_)
        result.along_last = step;
      else {
        result.along_layer.push_back(step);
        (void)memory(direction == 0 ? "flux" + number : "second" + number, Space::shared, inner(), {array});
      }
    }
    if (w.values >= 0) result.total = w.values;
    result.fibre = fibre("y" + number, result.total);
    results_.push_back(std::move(result));
  }

  /// The march over layers: derivatives, QFunction, transposed derivatives.
  void march() {
    for (const auto& result : results_)
      add(layer(result.total, {{.action = Do::Action::clear, .array = result.total, .to = result.fibre}}));
    Nest nest{.loops = {march_}, .body = {}};
    const int points = program_.evaluations.empty() ? results_.front().total : fields_.front().values;
    std::vector<Do> copies, at_points, behind;
    for (const auto& field : fields_) {
      if (field.shared_is_read) copies.push_back(copy_of(field.values, field.fibre, field.shared));
      for (const int step : field.derivatives) {
        const bool is_last = program_.direction_of(program_.steps[static_cast<std::size_t>(step)]) == last_;
        at_points.push_back(step_of(step, is_last ? field.fibre : field.shared, -1));
      }
    }
    at_points.push_back({.step = step_where([](const auto& step) { return step.kind == StepKind::evaluate; })});
    for (const auto& result : results_) {
      if (result.along_last >= 0)
        at_points.push_back({.step = result.along_last, .to = result.fibre, .is_marched = true});
      for (const int step : result.along_layer) behind.push_back(step_of(step, -1, result.fibre));
    }
    for (auto* what : {&copies, &at_points, &behind})
      if (!what->empty()) nest.body.emplace_back(layer(points, std::move(*what)));
    add(std::move(nest));
  }

  /// A fibre of results to the dofs: weights, or the transposed interpolation.
  void write(const kernel::CollocatedIntegration& w) {
    const std::string number = "_" + std::to_string(written_);
    const auto& result = results_[static_cast<std::size_t>(written_++)];
    const bool is_weighed = std::ranges::all_of(w.interpolation, [](int matrix) { return matrix < 0; });
    int array = result.total, fibres = result.fibre;
    if (is_weighed) {
      const int weighing =
          step_where([&](const auto& step) { return step.kind == StepKind::weigh && step.target == array; });
      add(layer(array, {step_of(weighing, -1, fibres)}));
    } else {
      std::vector<int> steps;
      for (int direction = 0; direction <= last_; ++direction) {
        const auto last = steps.empty() ? result.total : target(steps.back());
        steps.push_back(step_where([&](const auto& s) { return s.kind == StepKind::contract && s.source == last; }));
        if (is_declined_) return;
      }
      const int shared = memory("layer" + number, Space::shared, inner(), {result.total});
      const int done = interpolate(number, result.total, fibres, shared, steps);
      array = target(steps.back());
      fibres = fibre("dofs" + number, array);
      add(layer(array, {step_of(steps.back(), done, fibres)}));
    }
    const int writing =
        step_where([&](const auto& step) { return step.kind == StepKind::scatter && step.source == array; });
    add(layer(array, {step_of(writing, fibres, -1)}));
  }

  struct Field {
    int values = -1, fibre = -1, shared = -1; ///< array; its memories
    bool shared_is_read = false;              ///< derivatives are taken along axes of the layer
    std::vector<int> derivatives{};           ///< steps
  };
  struct Result {
    int total = -1, fibre = -1;
    int along_last = -1;            ///< step
    std::vector<int> along_layer{}; ///< steps
  };
  const kernel::TensorProgram& program_;
  int last_; ///< direction of the march
  Loop march_;
  Schedule schedule_;
  std::vector<Field> fields_;
  std::vector<Result> results_;
  int written_ = 0;
  bool is_declined_ = false;
};

} // namespace

std::optional<Schedule> schedule_slab(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  if (!can_schedule(input, plan) || program.integrations.empty()) return std::nullopt;
  auto result = Slab(program).run();
  if (result && !take_cells(*result, input, plan)) return std::nullopt;
  return result;
}

std::span<const Key* const> keys_of_slab() {
  static constexpr std::array<const Key*, 3> keys{&key::vector_width, &key::scatter, &key::cells};
  return keys;
}

} // namespace rafter::schedule
