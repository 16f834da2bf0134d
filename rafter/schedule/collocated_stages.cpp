// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/collocated_stages.hpp>

#include <algorithm>
#include <utility>

namespace rafter::schedule {

using kernel::StepKind;

namespace {

/// Takes one step after the other; each method says whether the step fits in what was before.
class StageFinder {
public:
  explicit StageFinder(const kernel::TensorProgram& program) : program_(program) {}

  bool take(int number) {
    const auto& step = program_.step(number);
    switch (step.kind) {
    case StepKind::read:
      found.fields.push_back({.reading = number, .dofs = step.target, .values = step.target, .interpolation = {}});
      return found.evaluation < 0 && program_.access(step.access).places.empty();
    case StepKind::contract:
      if (program_.contracts(step, kernel::FamilyKind::weights)) {
        begin_total(step.target);
        result_.weighing = number;
        return result_.total == step.target;
      }
      if (!program_.contracts(step)) return false;
      return found.evaluation < 0 ? take_forward(number, step) : take_backward(number, step);
    case StepKind::multiply:
    case StepKind::evaluate_cell:
      return false;
    case StepKind::evaluate:
      found.evaluation = number;
      return std::ranges::all_of(found.fields, [&](const auto& f) { return is_whole(f.interpolation); });
    case StepKind::write:
      result_.writing = number;
      found.results.push_back(std::exchange(result_, {}));
      return program_.access(step.access).places.empty() && found.results.back().total >= 0 &&
             is_whole(found.results.back().restriction) &&
             (found.results.back().weighing >= 0) == found.results.back().restriction.empty();
    }
    return false;
  }

  CollocatedStages found;

private:
  /// An interpolation has a step along each axis, or none.
  bool is_whole(const std::vector<int>& steps) const {
    return steps.empty() || static_cast<int>(steps.size()) == program_.tdim;
  }
  bool is_derivative(const kernel::Step& step) const {
    const auto& family = program_.family(step.family);
    return family.rows == family.cols;
  }
  bool take_forward(int number, const kernel::Step& step) {
    const auto field = std::ranges::find(found.fields, step.source, &FieldSteps::values);
    if (field == found.fields.end() || step.accumulate) return false;
    const int direction = program_.direction_of(step);
    if (is_derivative(step)) {
      auto& place = field->derivatives[static_cast<std::size_t>(direction)];
      return std::exchange(place, number) < 0;
    }
    field->values = step.target;
    field->interpolation.push_back(number);
    return field->derivatives == FieldSteps{}.derivatives &&
           direction + 1 == static_cast<int>(field->interpolation.size());
  }
  void begin_total(int array) {
    if (result_.total < 0) result_.total = result_.values = array;
  }
  bool take_backward(int number, const kernel::Step& step) {
    const int direction = program_.direction_of(step);
    if (is_derivative(step)) {
      if (step.accumulate)
        begin_total(step.target);
      else if (result_.total < 0)
        result_.total = step.target;
      auto& place = result_.derivatives[static_cast<std::size_t>(direction)];
      return result_.restriction.empty() && result_.total == step.target && std::exchange(place, number) < 0;
    }
    if (result_.restriction.empty()) begin_total(step.source);
    const int source = result_.restriction.empty() ? result_.total : program_.step(result_.restriction.back()).target;
    result_.restriction.push_back(number);
    return step.source == source && !step.accumulate &&
           direction == program_.tdim - static_cast<int>(result_.restriction.size());
  }

  const kernel::TensorProgram& program_;
  ResultSteps result_; ///< the steps of the output that is being gone through
};

} // namespace

bool has_equal_extents(const kernel::TensorProgram& program) {
  if (!program.is_grid() || program.tdim < 2) return false;
  const auto differs_from = [&](const kernel::Axis& axis, int other) {
    const auto& of_array = program.axis(other);
    return of_array.kind == axis.kind && axis.direction >= 0 && of_array.direction >= 0 &&
           of_array.extent != axis.extent;
  };
  return std::ranges::none_of(program.arrays, [&](const kernel::TensorArray& array) {
    return std::ranges::any_of(array.axes, [&](int axis) {
      return std::ranges::any_of(array.axes, [&](int other) { return differs_from(program.axis(axis), other); });
    });
  });
}

std::optional<CollocatedStages> collocated_stages(const kernel::TensorProgram& program) {
  using kernel::Contraction;
  const auto is_by = [&](Contraction contraction) { return program.contraction == contraction; };
  if (!program.is_grid() || is_by(Contraction::per_derivative) || is_by(Contraction::slice_wise) ||
      is_by(Contraction::separable))
    return std::nullopt;
  const auto is_matrix = [](const kernel::FieldUse& use) { return use.trial_element != nullptr; };
  if (std::ranges::any_of(program.outputs, is_matrix)) return std::nullopt;
  StageFinder finder(program);
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (!finder.take(static_cast<int>(s))) return std::nullopt;
  if (finder.found.evaluation < 0 || (finder.found.fields.empty() && finder.found.results.empty())) return std::nullopt;
  return std::move(finder.found);
}

} // namespace rafter::schedule
