// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule_memories.hpp>

#include <algorithm>

namespace rafter::schedule {

void each_entry(const kernel::TensorProgram& program, int array, const EntryIndices& given,
                const std::function<void(int component, const EntryIndices& at)>& f) {
  const auto& axes = program.array(array).axes;
  for (int c = 0; c < program.num_components(array); ++c) {
    EntryIndices at = given;
    const std::function<void(std::size_t)> open = [&](std::size_t i) {
      if (i == axes.size()) return f(c, at);
      if (i == 0 || at.contains(axes[i])) return open(i + 1); // the first axis counts components
      for (int k = 0; k < program.extent(axes[i]); ++k) {
        at[axes[i]] = integer(k);
        open(i + 1);
      }
      at.erase(axes[i]);
    };
    open(0);
  }
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

int ScheduleMemories::extent_in(const Memory& memory, int of_axis) const {
  return program_.extent(of_axis) + (axis(of_axis).direction == memory.keeps.back() ? memory.padding : 0);
}

NodePtr ScheduleMemories::entry(int number, int array, int component, const EntryIndices& at) const {
  const auto& in = memory(number);
  int begin = 0;
  for (const auto& place : in.places) {
    if (std::ranges::find(place, array) != place.end()) break;
    auto alone = in;
    alone.places = {place};
    begin += size_of(program_, alone);
  }
  NodePtr index = integer(component);
  for (const int direction : in.keeps)
    for (const int of_axis : program_.array(array).axes)
      if (axis(of_axis).direction == direction)
        index = iadd(imul(index, integer(extent_in(in, of_axis))), at.at(of_axis));
  index = iadd(integer(begin), index);
  if (in.space != Space::shared || schedule_.cells == 1) return index;
  return iadd(imul(item(2), integer(size_of(program_, in))), index); // each cell of the group has its own
}

NodePtr ScheduleMemories::load(int number, int array, int component, const EntryIndices& at) const {
  return context_.load(memory(number).name, entry(number, array, component, at));
}
void ScheduleMemories::store(int number, int array, int component, const EntryIndices& at, NodePtr value, bool adds,
                             Statements& to) const {
  if (!adds && !cleared_.contains({array, number})) return overwrite(number, array, component, at, value, to);
  to.push_back(add(memory(number).name, entry(number, array, component, at), std::move(value)));
}
void ScheduleMemories::overwrite(int number, int array, int component, const EntryIndices& at, NodePtr value,
                                 Statements& to) const {
  to.push_back(schedule::store(memory(number).name, entry(number, array, component, at), std::move(value)));
}

} // namespace rafter::schedule
