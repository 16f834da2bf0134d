// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule.hpp>

#include <algorithm>
#include <utility>

namespace rafter::schedule {

using kernel::StepKind;

namespace {

bool keeps(const kernel::TensorProgram& program, const Memory& memory, int axis) {
  const auto& of = program.axis(axis);
  if (of.kind == kernel::AxisKind::component) return !memory.is_of_component;
  if (of.direction < 0) return std::ranges::find(memory.drops, axis) == memory.drops.end();
  return std::ranges::find(memory.keeps, of.direction) != memory.keeps.end();
}
/// The largest extent along the last reference axis of the arrays in a memory.
int num_layers(const kernel::TensorProgram& program, const Memory& memory) {
  int result = 1;
  for (const auto& place : memory.places)
    for (const int array : place)
      for (const int axis : program.array(array).axes)
        if (program.axis(axis).direction == program.tdim - 1 && keeps(program, memory, axis))
          result = std::max(result, program.extent(axis));
  return result;
}

} // namespace

const Loop* loop_over(const Nest& nest, int axis) {
  const auto found = std::ranges::find_if(
      nest.loops, [&](const Loop& loop) { return std::ranges::find(loop.axes, axis) != loop.axes.end(); });
  return found == nest.loops.end() ? nullptr : &*found;
}

int extent_in(const kernel::TensorProgram& program, const Memory& memory, int axis) {
  const auto& of = program.axis(axis);
  const int lanes = of.direction == 0 && memory.points_in_lanes > 0 ? memory.points_in_lanes : 1;
  return (of.extent + lanes - 1) / lanes;
}

namespace {

/// The same, with what is left free behind each run of the last one.
int room_in(const kernel::TensorProgram& program, const Memory& memory, int axis) {
  const int direction = program.axis(axis).direction;
  const bool is_padded = direction >= 0 && !memory.keeps.empty() && direction == memory.keeps.back();
  return extent_in(program, memory, axis) + (is_padded ? memory.padding : 0);
}

} // namespace

std::vector<int> strides_of(const kernel::TensorProgram& program, const Memory& memory, int array) {
  const int layers = memory.layer > 0 ? num_layers(program, memory) : 1;
  const auto& axes = program.array(array).axes;
  std::vector<int> result(axes.size(), 0);
  int stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!keeps(program, memory, axes[i])) continue;
    const auto& axis = program.axis(axes[i]);
    if (memory.layer > 0 && axis.direction == program.tdim - 1) stride = memory.layer;
    if (memory.layer > 0 && axis.kind == kernel::AxisKind::component) stride = memory.layer * layers;
    result[i] = stride;
    stride *= room_in(program, memory, axes[i]);
  }
  return result;
}

int size_of(const kernel::TensorProgram& program, const Memory& memory) {
  const int layers = memory.layer > 0 ? num_layers(program, memory) : 1;
  int result = memory.spare;
  for (const auto& place : memory.places) {
    int largest = memory.layer > 0 ? memory.layer * layers : 1;
    for (const int array : place) {
      const auto strides = strides_of(program, memory, array);
      const auto& axes = program.array(array).axes;
      for (std::size_t i = 0; i < axes.size(); ++i)
        largest = std::max(largest, strides[i] * room_in(program, memory, axes[i]));
    }
    result += largest;
  }
  return result;
}

std::int64_t shared_bytes(const kernel::TensorProgram& program, const Schedule& schedule, int bytes_per_number) {
  std::int64_t result = 0;
  for (const auto& memory : schedule.memories)
    if (memory.space == Space::shared) result += size_of(program, memory);
  return result * schedule.cells * bytes_per_number;
}

namespace {

bool holds(const Memory& memory, int array) {
  return std::ranges::any_of(memory.places,
                             [&](const auto& place) { return std::ranges::find(place, array) != place.end(); });
}

} // namespace

int memory_of(const Schedule& schedule, int array, int given) {
  if (given >= 0) return given;
  const auto found =
      std::ranges::find_if(schedule.memories, [&](const Memory& memory) { return holds(memory, array); });
  return found == schedule.memories.end() ? -1 : static_cast<int>(found - schedule.memories.begin());
}

int memory_of_output(const Schedule& schedule, const Do& evaluation, int array) {
  const int to = evaluation.to;
  return to >= 0 && holds(schedule.memories[static_cast<std::size_t>(to)], array) ? to : -1;
}

bool works_in_place(const kernel::Step& step) { return step.source >= 0 && step.source == step.target; }

std::vector<int> arrays_read(const kernel::TensorProgram& program, const Do& what) {
  if (what.action == Do::Action::copy) return {what.array};
  if (what.action != Do::Action::step) return {};
  const auto& step = program.step(what.step);
  std::vector<int> result;
  const auto add = [&](int array) {
    if (program.array(array).table < 0) result.push_back(array);
  };
  if (step.source >= 0) add(step.source);
  if (step.kind == StepKind::multiply) add(program.product_of(step).factor);
  if (step.kind == StepKind::evaluate)
    for (const auto& input : program.input_slots) result.push_back(input.slot.array);
  return result;
}

std::vector<int> arrays_made(const kernel::TensorProgram& program, const Do& what) {
  if (what.action == Do::Action::clear) return {what.array};
  if (what.action != Do::Action::step) return {};
  const auto& step = program.step(what.step);
  const bool is_of_cell = step.kind == StepKind::evaluate_cell;
  if (step.kind != StepKind::evaluate && !is_of_cell)
    return step.target >= 0 ? std::vector{step.target} : std::vector<int>{};
  std::vector<int> result;
  for (const auto& output : program.output_slots)
    if (output.array >= 0 && program.has_points(output.array) != is_of_cell &&
        std::ranges::find(result, output.array) == result.end())
      result.push_back(output.array);
  return result;
}

bool evaluates(const kernel::TensorProgram& program, const Nest& nest) {
  return std::ranges::any_of(nest.body, [&](const auto& entry) {
    const auto* what = std::get_if<Do>(&entry);
    if (what == nullptr) return evaluates(program, std::get<Nest>(entry));
    return what->action == Do::Action::step && program.step(what->step).kind == StepKind::evaluate;
  });
}

} // namespace rafter::schedule
