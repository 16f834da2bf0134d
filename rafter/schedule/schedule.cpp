// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule.hpp>

#include <algorithm>
#include <utility>

namespace rafter::schedule {

using kernel::StepKind;

namespace {

/// Numbers of an array in a memory.
int size_in(const kernel::TensorProgram& program, const Memory& memory, int array) {
  const int last = program.tdim - 1;
  int result = 1, layers = 1, components = 1;
  for (const int number : program.array(array).axes) {
    const auto& axis = program.axes[static_cast<std::size_t>(number)];
    if (axis.kind == kernel::AxisKind::component) {
      components = memory.is_of_component ? 1 : axis.extent;
      continue;
    }
    if (axis.direction >= 0 && std::ranges::find(memory.keeps, axis.direction) == memory.keeps.end()) continue;
    if (axis.direction == last) layers = axis.extent;
    result *= axis.extent + (!memory.keeps.empty() && axis.direction == memory.keeps.back() ? memory.padding : 0);
  }
  return components * (memory.layer > 0 ? memory.layer * layers : result);
}

} // namespace

std::vector<int> strides_of(const kernel::TensorProgram& program, const Memory& memory, int array) {
  const int last = program.tdim - 1;
  int layers = 1; // those of a component, of all arrays
  if (memory.layer > 0 && std::ranges::find(memory.keeps, last) != memory.keeps.end())
    for (const auto& place : memory.places)
      for (const int other : place)
        for (const int number : program.array(other).axes)
          if (program.axes[static_cast<std::size_t>(number)].direction == last)
            layers = std::max(layers, program.extent(number));
  const auto& axes = program.array(array).axes;
  std::vector<int> result(axes.size(), 0);
  int stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto& axis = program.axes[static_cast<std::size_t>(axes[i])];
    const bool is_component = axis.kind == kernel::AxisKind::component;
    const bool is_kept =
        is_component ? !memory.is_of_component
                     : axis.direction < 0 || std::ranges::find(memory.keeps, axis.direction) != memory.keeps.end();
    if (!is_kept) continue;
    if (memory.layer > 0 && axis.direction == last) stride = memory.layer;
    if (memory.layer > 0 && is_component) stride = memory.layer * layers;
    result[i] = stride;
    stride *= axis.extent + (!memory.keeps.empty() && axis.direction == memory.keeps.back() ? memory.padding : 0);
  }
  return result;
}

int size_of(const kernel::TensorProgram& program, const Memory& memory) {
  int result = 0;
  for (const auto& place : memory.places) {
    int largest = 0;
    for (const int array : place) largest = std::max(largest, size_in(program, memory, array));
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

int memory_of(const Schedule& schedule, int array, int given) {
  if (given >= 0) return given;
  for (std::size_t m = 0; m < schedule.memories.size(); ++m)
    for (const auto& place : schedule.memories[m].places)
      if (std::ranges::find(place, array) != place.end()) return static_cast<int>(m);
  return -1;
}

int memory_in_place(const Do& what) { return what.from >= 0 ? what.from : what.to; }

std::vector<int> arrays_read(const kernel::TensorProgram& program, const Do& what) {
  if (what.action == Do::Action::copy) return {what.array};
  if (what.action != Do::Action::step) return {};
  const auto& step = program.steps[static_cast<std::size_t>(what.step)];
  std::vector<int> result;
  if (step.source >= 0) result.push_back(step.source);
  if (step.kind == StepKind::weigh || step.kind == StepKind::butterfly || step.kind == StepKind::mask)
    result.push_back(step.target);
  if (step.kind == StepKind::evaluate)
    for (const auto& input : program.input_slots) result.push_back(input.slot.array);
  return result;
}

std::vector<int> arrays_made(const kernel::TensorProgram& program, const Do& what) {
  if (what.action == Do::Action::clear) return {what.array};
  if (what.action != Do::Action::step) return {};
  const auto& step = program.steps[static_cast<std::size_t>(what.step)];
  if (step.kind != StepKind::evaluate) return step.target >= 0 ? std::vector{step.target} : std::vector<int>{};
  std::vector<int> result;
  for (const auto& output : program.output_slots)
    if (output.array >= 0 && std::ranges::find(result, output.array) == result.end()) result.push_back(output.array);
  return result;
}

bool evaluates(const kernel::TensorProgram& program, const Nest& nest) {
  return std::ranges::any_of(nest.body, [&](const auto& entry) {
    const auto* what = std::get_if<Do>(&entry);
    if (what == nullptr) return evaluates(program, std::get<Nest>(entry));
    return what->action == Do::Action::step &&
           program.steps[static_cast<std::size_t>(what->step)].kind == StepKind::evaluate;
  });
}

} // namespace rafter::schedule
