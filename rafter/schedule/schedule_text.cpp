// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

class SchedulePrinter {
public:
  SchedulePrinter(const kernel::TensorProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule) {}

  std::string text() {
    text_ = cells();
    for (const auto& memory : schedule_.memories) text_ += memory_text(memory);
    nest(schedule_.nest, 0);
    return text_;
  }

private:
  std::string cells() const {
    switch (schedule_.cell_place) {
    case CellPlace::in_turn:
      return "cells in turn\n";
    case CellPlace::items:
      return "cells in items\n";
    case CellPlace::lanes:
      return schedule_.subbatches == 1 ? "cells in lanes\n"
                                       : fmt::format("cells in lanes, {} of them side by side\n", schedule_.subbatches);
    case CellPlace::group:
      break;
    }
    return fmt::format("items {} x {} for each of {} cells\n", schedule_.items[0], schedule_.items[1], schedule_.cells);
  }
  std::string memory_text(const Memory& memory) const {
    std::vector<std::string> places, kept;
    for (const auto& place : memory.places) {
      std::vector<std::string> arrays;
      for (const int array : place) arrays.push_back(program_.array(array).name);
      places.push_back(fmt::format("{}", fmt::join(arrays, "|")));
    }
    if (memory.has_cells) kept.emplace_back("cell");
    if (!memory.is_of_component) kept.emplace_back("c");
    for (const int direction : memory.keeps) kept.emplace_back(1, "ijk"[direction]);
    return fmt::format("{}: {}  {}[{}]{}{}{}{}\n", memory.name, fmt::join(places, " "),
                       memory.space == Space::shared ? "shared" : "work", fmt::join(kept, " "),
                       memory.padding > 0 ? fmt::format("+{}", memory.padding) : "",
                       memory.points_in_lanes > 0 ? fmt::format(" {} in lanes", memory.points_in_lanes) : "",
                       memory.spare > 0 ? fmt::format(" and {}", memory.spare) : "",
                       memory.layer > 0 ? fmt::format(" layers of {}", memory.layer) : "");
  }
  std::string axis_name(int axis) const { return program_.axis(axis).name; }
  std::string memory_name(int memory) const { return schedule_.memories[static_cast<std::size_t>(memory)].name; }
  std::string loop_text(const Loop& loop) const {
    std::vector<std::string> names;
    for (const int axis : loop.axes) names.push_back(axis_name(axis));
    static constexpr std::array places{"", ":unrolled", "subbatches", "cells", ":item_x", ":item_y", ":turns"};
    const auto counted = fmt::format("{}", fmt::join(names, " "));
    return (names.size() > 1 ? "(" + counted + ")" : counted) + places.at(static_cast<std::size_t>(loop.place));
  }
  /// `name`, and the memories that what is done names.
  std::string with_memories(const Do& what, const std::string& name) const {
    std::string text = name;
    if (what.from >= 0) text += " " + memory_name(what.from) + " >";
    if (what.to >= 0) text += (what.from >= 0 ? " " : " > ") + memory_name(what.to);
    if (what.is_in_registers) text += what.from >= 0 ? " registers" : " > registers";
    if (what.sum >= 0) text += " on " + memory_name(what.sum);
    if (what.rows > 0) text += fmt::format(" {} rows at a time", what.rows);
    return what.is_marched ? text + " marched" : text;
  }
  /// Cell matrices are not added, and cells of lists do not store what they touch first.
  std::string way_of_adding(const kernel::Access& access) const {
    if (access.kind == kernel::AccessKind::stored) return std::string();
    const bool is_matrix = program_.field_of(access).trial_element != nullptr;
    if (is_matrix || (program_.batches.has_lists && schedule_.way == Way::first_touch)) return "";
    return fmt::format(" {}", name(schedule_.way));
  }
  std::string do_text(const Do& what) const {
    switch (what.action) {
    case Do::Action::clear:
      return fmt::format("{} = 0 in {}", program_.array(what.array).name, memory_name(what.to));
    case Do::Action::copy:
      return with_memories(what, program_.array(what.array).name +
                                     (what.component >= 0 ? fmt::format("[{}] copy", what.component) : " copy"));
    case Do::Action::begin_integrals:
      return "integrals = 0";
    case Do::Action::end_integrals:
      return "add integrals";
    case Do::Action::step:
      break;
    }
    const auto& step = program_.step(what.step);
    const auto name_of = [&](int array) { return program_.array(array).name; };
    switch (step.kind) {
    case StepKind::read:
      return with_memories(what, "read " + name_of(step.target));
    case StepKind::write:
      return with_memories(what, "write " + name_of(step.source) + way_of_adding(program_.access(step.access)));
    case StepKind::evaluate_cell:
      return with_memories(what, "evaluate cell");
    case StepKind::evaluate:
      return with_memories(what, "evaluate");
    case StepKind::multiply:
      return with_memories(what, fmt::format("{} {}= {} * {}", name_of(step.target),
                                             step.accumulate || what.is_marched ? "+" : "", name_of(step.source),
                                             name_of(program_.product_of(step).factor)));
    case StepKind::contract:
      break;
    }
    return with_memories(what, fmt::format("{} {}= {} . {}", name_of(step.target), step.accumulate ? "+" : "",
                                           program_.name_of(program_.family(step.family)), name_of(step.source)));
  }
  void nest(const Nest& of, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    int inside = depth;
    if (!of.loops.empty()) {
      std::vector<std::string> loops;
      for (const auto& loop : of.loops) loops.push_back(loop_text(loop));
      text_ += fmt::format("{}{}\n", indent, fmt::join(loops, " "));
      ++inside;
    }
    for (const auto& entry : of.body)
      if (const auto* what = std::get_if<Do>(&entry))
        text_ += std::string(static_cast<std::size_t>(2 * inside), ' ') + do_text(*what) + "\n";
      else
        nest(std::get<Nest>(entry), inside);
  }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::string text_;
};

} // namespace

std::string to_string(const kernel::TensorProgram& program, const Schedule& schedule) {
  return SchedulePrinter(program, schedule).text();
}

} // namespace rafter::schedule
