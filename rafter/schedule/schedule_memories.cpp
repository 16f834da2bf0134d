// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule_memories.hpp>

#include <algorithm>

namespace rafter::schedule {

void each_entry(const kernel::TensorProgram& program, int array, const EntryIndices& given,
                const std::function<void(const EntryIndices& at)>& f, std::span<const int> but) {
  const auto& axes = program.array(array).axes;
  EntryIndices at = given;
  const std::function<void(std::size_t)> open = [&](std::size_t i) {
    if (i == axes.size()) return f(at);
    if (at.contains(axes[i]) || std::ranges::find(but, axes[i]) != but.end()) return open(i + 1);
    for (int k = 0; k < program.extent(axes[i]); ++k) {
      at[axes[i]] = integer(k);
      open(i + 1);
    }
    at.erase(axes[i]);
  };
  open(0);
}

EntryIndices numbered(const kernel::TensorProgram& program, EntryIndices at, std::span<const int> axes, int number) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    const int extent = program.extent(axes[i]);
    at[axes[i]] = integer(number % extent);
    number /= extent;
  }
  return at;
}

NodePtr number_in_cell(const kernel::TensorProgram& program, int array, const EntryIndices& at) {
  NodePtr number = integer(0);
  for (const int axis : std::span(program.array(array).axes).subspan(1))
    number = iadd(imul(number, integer(program.extent(axis))), at.at(axis));
  return number;
}

ScheduleMemories::ScheduleMemories(Context& context, const Schedule& schedule)
    : context_(context), program_(context.program), schedule_(schedule) {
  for (const auto& memory : schedule_.memories) {
    const int cells = memory.space == Space::shared ? schedule_.cells : 1;
    context_.work(memory.name, std::int64_t{size_of(program_, memory)} * cells);
    context_.result.buffers.back().space = memory.space;
  }
  find_cleared(schedule_.nest);
}

void ScheduleMemories::find_cleared(const Nest& of) {
  for (const auto& entry : of.body)
    if (const auto* what = std::get_if<Do>(&entry)) {
      if (what->action == Do::Action::clear) cleared_.insert({what->array, what->to});
    } else
      find_cleared(std::get<Nest>(entry));
}

const ScheduleMemories::ArrayPlace& ScheduleMemories::place_of(int number, int array) const {
  const auto [found, is_new] = places_.try_emplace({number, array});
  auto& result = found->second;
  if (!is_new) return result;
  const auto& in = memory(number);
  for (const auto& place : in.places) {
    if (std::ranges::find(place, array) != place.end()) break;
    auto alone = in;
    alone.places = {place};
    result.begin += size_of(program_, alone);
  }
  result.strides = strides_of(program_, in, array);
  return result;
}

NodePtr ScheduleMemories::entry(int number, int array, const EntryIndices& at) const {
  const auto& place = place_of(number, array);
  const auto& axes = program_.array(array).axes;
  NodePtr index = integer(0);
  int constant = place.begin; // It comes last, so that sums begin with what differs.
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (place.strides[i] == 0) continue;
    const NodePtr& along = at.at(axes[i]);
    if (along->kind == Kind::integer)
      constant += static_cast<int>(along->integer) * place.strides[i];
    else
      index = iadd(index, imul(along, integer(place.strides[i])));
  }
  index = iadd(index, integer(constant));
  const auto& in = memory(number);
  if (in.space != Space::shared || schedule_.cells == 1) return index;
  return iadd(imul(item(2), integer(size_of(program_, in))), index); // each cell of the group has its own
}

Placement ScheduleMemories::placement(int number, int array, const kernel::FieldUse* field) const {
  const auto& of = program_.array(array);
  const std::span axes(of.axes);
  Placement result;
  const auto entry_of = [&](int component, int dof) {
    const EntryIndices at{{axes.front(), integer(component)}};
    return static_cast<int>(entry(number, array, numbered(program_, at, axes.subspan(1), dof))->integer);
  };
  result.component_stride = entry_of(1, 0) - entry_of(0, 0);
  const auto place_of = [&](int place) { return place < 0 ? -1 : entry_of(0, place); };
  if (of.folding >= 0)
    for (const int place : program_.foldings[static_cast<std::size_t>(of.folding)].places)
      result.dof_entries.push_back(place_of(place));
  else if (field != nullptr && !field->places.empty())
    for (const int place : field->places) result.dof_entries.push_back(place_of(place));
  else
    for (int dof = 0; dof < program_.num_entries(array); ++dof) result.dof_entries.push_back(entry_of(0, dof));
  return result;
}

NodePtr ScheduleMemories::load(int number, int array, const EntryIndices& at) const {
  return context_.load(memory(number).name, context_.work_entry(entry(number, array, at)));
}
void ScheduleMemories::store(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const {
  to.push_back(schedule::store(memory(number).name, context_.work_entry(entry(number, array, at)), std::move(value)));
}
void ScheduleMemories::add(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const {
  to.push_back(schedule::add(memory(number).name, context_.work_entry(entry(number, array, at)), std::move(value)));
}

} // namespace rafter::schedule
