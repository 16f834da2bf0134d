// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/slice_cells.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/place_arrays.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

/// The contractions between the dofs of a field, or of the geometry, and the points, by axis; steps by number.
struct AxisSteps {
  int access = -1; ///< the step that reads or writes the dofs
  int dofs = -1;   ///< array
  std::array<std::vector<int>, 3> along;
  int weighing = -1; ///< step where the nodes are points and only values are tested, in place of contractions
};
struct SliceStages {
  std::vector<AxisSteps> fields, results;
  int evaluation = -1;
};

std::optional<SliceStages> slice_stages(const kernel::TensorProgram& program) {
  SliceStages found;
  AxisSteps result;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const auto& step = program.steps[s];
    const auto number = static_cast<int>(s);
    if (step.access >= 0 && !program.access(step.access).places.empty()) return std::nullopt;
    if (step.kind == StepKind::read) {
      found.fields.push_back({.access = number, .dofs = step.target, .along = {}});
    } else if (step.kind == StepKind::evaluate) {
      found.evaluation = number;
    } else if (step.kind == StepKind::write) {
      result.access = number;
      result.dofs = step.source;
      found.results.push_back(std::move(result));
      result = {};
    } else if (program.contracts(step, kernel::FamilyKind::weights)) {
      result.weighing = number;
    } else if (program.contracts(step)) {
      auto& steps = found.evaluation < 0 ? found.fields.back() : result;
      steps.along[static_cast<std::size_t>(program.direction_of(step))].push_back(number);
    } else
      return std::nullopt;
  }
  return found;
}

class SliceSchedule {
public:
  SliceSchedule(const kernel::TensorProgram& program, const SliceStages& stages, bool is_unrolled)
      : program_(program), stages_(stages), last_(program.tdim - 1), is_unrolled_(is_unrolled) {}

  Schedule run(const Plan& plan, CellPlace cell_place) && {
    result_.cell_place = cell_place;
    const bool has_integrals = kernel::has_output(program_.function, kernel::OutputKind::integral);
    auto& all = result_.nest;
    if (has_integrals) all.body.emplace_back(Do{.action = Do::Action::begin_integrals});
    for (const auto& field : stages_.fields) all.body.emplace_back(Do{.step = field.access});
    for (const auto& field : stages_.fields) add_columns(field, all);
    add_layers(all);
    for (const auto& result : stages_.results) add_columns(result, all);
    for (const auto& result : stages_.results) all.body.emplace_back(Do{.step = result.access});
    if (has_integrals) all.body.emplace_back(Do{.action = Do::Action::end_integrals});
    place_arrays(program_, plan, result_, {.has_layers = true});
    return std::move(result_);
  }

private:
  static const std::vector<int>& along(int direction, const AxisSteps& steps) {
    return steps.along[static_cast<std::size_t>(direction)];
  }
  /// A nest around steps of an axis, if there are any.
  static void add(std::vector<Loop> loops, const std::vector<int>& steps, Nest& to) {
    if (steps.empty()) return;
    Nest nest = nest_of(std::move(loops), {});
    for (const int step : steps) nest.body.emplace_back(Do{.step = step});
    to.body.emplace_back(std::move(nest));
  }
  /// Contractions along the last axis, or weights.
  void add_columns(const AxisSteps& of, Nest& to) const {
    const std::vector<Loop> loops{over_components(program_, of.dofs), over_columns(program_, of.dofs)};
    add(loops, along(last_, of), to);
    if (of.weighing >= 0) add(loops, {of.weighing}, to);
  }
  Loop over_points(int direction, LoopPlace place = LoopPlace::serial) const {
    return {{program_.point_axes[static_cast<std::size_t>(last_ - direction)]}, place};
  }
  void add_layers(Nest& to) const {
    Nest layer = nest_of({over_points(last_)}, {});
    const auto add_middle = [&](const AxisSteps& of) {
      if (last_ == 2) add({over_components(program_, of.dofs), over_axis(program_, of.dofs, 0)}, along(1, of), layer);
    };
    for (const auto& field : stages_.fields) add_middle(field);
    if (last_ == 2) {
      Nest line = nest_of({over_points(1)}, {});
      add_line(line);
      layer.body.emplace_back(std::move(line));
    } else
      add_line(layer);
    for (const auto& result : stages_.results) add_middle(result);
    to.body.emplace_back(std::move(layer));
  }
  /// Components are written out beside an unrolled QFunction, whose line stays in registers, and go in a loop beside a
  /// rolled one.
  void add_on_line(const AxisSteps& of, Nest& to) const {
    if (!is_unrolled_ && program_.num_components(of.dofs) > 1)
      return add({over_components(program_, of.dofs)}, along(0, of), to);
    for (const int step : along(0, of)) to.body.emplace_back(Do{.step = step});
  }
  void add_line(Nest& to) const {
    for (const auto& field : stages_.fields) add_on_line(field, to);
    to.body.emplace_back(nest_of({over_points(0, is_unrolled_ ? LoopPlace::unrolled : LoopPlace::serial)},
                                 {{.step = stages_.evaluation}}));
    for (const auto& result : stages_.results) add_on_line(result, to);
  }

  const kernel::TensorProgram& program_;
  const SliceStages& stages_;
  int last_; ///< axis of the layers
  bool is_unrolled_;
  Schedule result_;
};

} // namespace

std::optional<Schedule> schedule_slices(const LoweringInput& input, const Plan& plan, CellPlace cell_place) {
  const auto& program = *input.program;
  if (program.contraction != kernel::Contraction::slice_wise || program.tdim < 2) return std::nullopt;
  const auto stages = slice_stages(program);
  if (!stages) return std::nullopt;
  return SliceSchedule(program, *stages, has_unrolled_lines(input, plan, cell_place, 0)).run(plan, cell_place);
}

} // namespace rafter::schedule
