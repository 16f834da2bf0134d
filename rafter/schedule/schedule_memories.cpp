// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule_memories.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

namespace rafter::schedule {

void each_entry(const Context& context, int array, const EntryIndices& given,
                const std::function<void(const EntryIndices& at)>& f, std::span<const int> but) {
  const auto& axes = context.program.array(array).axes;
  EntryIndices at = given;
  const std::function<void(std::size_t)> open = [&](std::size_t i) {
    if (i == axes.size()) return f(at);
    if (at.contains(axes[i]) || std::ranges::find(but, axes[i]) != but.end()) return open(i + 1);
    for (int k = 0; k < context.num_indices(axes[i]); ++k) {
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

NodePtr number_in_cell(const Context& context, int array, const EntryIndices& at) {
  const auto& program = context.program;
  NodePtr number = integer(0);
  for (const int axis : std::span(program.array(array).axes).subspan(1)) {
    const bool is_in_lanes = context.has_point_lanes() && program.axis(axis).direction == 0;
    const NodePtr& index = at.at(axis);
    number = iadd(imul(number, integer(program.extent(axis))),
                  is_in_lanes ? imul(index, integer(context.plan[key::vector_width])) : index);
  }
  return context.at_point(std::move(number));
}

ScheduleMemories::ScheduleMemories(Context& context, const Schedule& schedule)
    : context_(context), program_(context.program), schedule_(schedule) {
  for (const auto& memory : schedule_.memories) {
    const int cells = memory.space == Space::shared ? schedule_.cells : memory.has_cells ? memory.points_in_lanes : 1;
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

NodePtr ScheduleMemories::begin(int number) const {
  const auto& in = memory(number);
  const NodePtr size = integer(size_of(program_, in));
  if (in.has_cells) return imul(variable("cell"), size);
  if (is_part_of_item(number)) return imul(variable(own_item), size);
  if (in.space == Space::shared && schedule_.cells > 1)
    return imul(item(2), size); // each cell of the group has its own
  return integer(0);
}

NodePtr ScheduleMemories::entry(int number, int array, const EntryIndices& at) const {
  return iadd(begin(number), entry_behind_begin(number, array, at));
}

NodePtr ScheduleMemories::entry_behind_begin(int number, int array, const EntryIndices& at) const {
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
  return iadd(index, integer(constant));
}

Placement ScheduleMemories::placement(int number, int array, const kernel::Access& access) const {
  const auto& of = program_.array(array);
  const std::span axes(of.axes);
  Placement result;
  result.begin = begin(number);
  const auto entry_of = [&](int component, int dof) {
    const EntryIndices at{{axes.front(), integer(component)}};
    return static_cast<int>(entry_behind_begin(number, array, numbered(program_, at, axes.subspan(1), dof))->integer);
  };
  result.component_stride = entry_of(1, 0) - entry_of(0, 0);
  const auto place_of = [&](int place) { return place < 0 ? -1 : entry_of(0, place); };
  const int num_dofs = access.places.empty() ? program_.num_entries(array) : static_cast<int>(access.places.size());
  for (int dof = 0; dof < num_dofs; ++dof) result.dof_entries.push_back(place_of(access.place_of(dof)));
  return result;
}

NodePtr ScheduleMemories::load(int number, int array, const EntryIndices& at) const {
  if (number < 0)
    throw base::InternalError("schedule: an entry of " + program_.array(array).name + " stands in no register");
  return context_.load(memory(number).name, context_.work_entry(entry(number, array, at)));
}
void ScheduleMemories::store(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const {
  to.push_back(schedule::store(memory(number).name, context_.work_entry(entry(number, array, at)), std::move(value)));
}
void ScheduleMemories::add(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const {
  to.push_back(schedule::add(memory(number).name, context_.work_entry(entry(number, array, at)), std::move(value)));
}

NodePtr ScheduleMemories::load_scalar(int number, int array, EntryIndices at, int along_first) const {
  const int axis = first_axis(array), lanes = memory(number).points_in_lanes;
  at[axis] = integer(lanes > 0 ? 0 : along_first);
  const NodePtr first = imul(entry(number, array, at), integer(context_.plan[key::vector_width]));
  return context_.load(memory(number).name, iadd(first, lanes > 0 ? integer(along_first) : variable("cell")));
}

NodePtr ScheduleMemories::load_vector(int number, int array, const EntryIndices& at) const {
  const int width = context_.plan[key::vector_width], axis = first_axis(array);
  const auto first = static_cast<int>(at.at(axis)->integer) * width;
  const int last = program_.extent(axis) - 1 - first;
  auto from = at;
  from[axis] = iadd(integer(first), last < width - 1 ? imin(lane(), integer(last)) : lane());
  return context_.load(memory(number).name, iadd(imul(entry(number, array, from), integer(width)), variable("cell")));
}

void ScheduleMemories::transpose(int from, int to, int array, Statements& statements) const {
  const int lanes = memory(from).points_in_lanes, points = program_.extent(first_axis(array)),
            in_row = (points + lanes - 1) / lanes * lanes, num_rows = program_.size(array) / points,
            dropped = num_rows * points; // the place of lanes that hold nothing
  std::vector<int> places, starts;
  for (int row = 0; row < num_rows; ++row)
    for (int i = 0; i < in_row; ++i) places.push_back(i < points ? row * points + i : dropped);
  for (int cell = 0; cell < lanes; ++cell) starts.push_back(cell * num_rows * in_row);
  const std::string t = context_.fresh("t"), k = context_.fresh("k");
  const NodePtr first = imul(variable(t), integer(lanes));
  const NodePtr start = iload(context_.integers("cell_starts", starts), lane());
  const NodePtr place = iload(context_.integers("line_entries", places), iadd(first, variable(k)));
  const NodePtr moved = context_.load(memory(from).name, iadd(iadd(start, first), variable(k)));
  const NodePtr move = schedule::store(memory(to).name, context_.work_entry(place), moved);
  statements.push_back(loop(t, integer(std::int64_t{num_rows} * in_row / lanes),
                            block({loop(k, integer(lanes), block({move}), LoopStyle::run)})));
}

/// The axis of an array along the first reference axis.
int ScheduleMemories::first_axis(int array) const { return program_.array(array).axes.back(); }

} // namespace rafter::schedule
