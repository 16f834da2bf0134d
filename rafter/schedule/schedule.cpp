// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/schedule.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rafter::schedule {

namespace {

/// Numbers of an array in a memory.
int size_in(const kernel::TensorProgram& program, const Memory& memory, int array) {
  int result = program.num_components(array);
  for (const int axis : program.array(array).axes) {
    const int direction = program.axes[static_cast<std::size_t>(axis)].direction;
    if (std::ranges::find(memory.keeps, direction) == memory.keeps.end()) continue;
    result *= program.extent(axis) + (direction == memory.keeps.back() ? memory.padding : 0);
  }
  return result;
}

} // namespace

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

namespace {

class SchedulePrinter {
public:
  SchedulePrinter(const kernel::TensorProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule) {}

  std::string text() {
    text_ =
        fmt::format("items {} x {} for each of {} cells\n", schedule_.items[0], schedule_.items[1], schedule_.cells);
    for (const auto& memory : schedule_.memories) {
      std::vector<std::string> places, kept{"c"};
      for (const auto& place : memory.places) {
        std::vector<std::string> arrays;
        for (const int array : place) arrays.push_back(program_.array(array).name);
        places.push_back(fmt::format("{}", fmt::join(arrays, "|")));
      }
      for (const int direction : memory.keeps) kept.emplace_back(1, "ijk"[direction]);
      text_ += fmt::format("{}: {}  {}[{}]{}\n", memory.name, fmt::join(places, " "),
                           memory.space == Space::shared ? "shared" : "work", fmt::join(kept, " "),
                           memory.padding > 0 ? fmt::format("+{}", memory.padding) : "");
    }
    nest(schedule_.nest, 0);
    return text_;
  }

private:
  std::string axis_name(int axis) const { return program_.axes[static_cast<std::size_t>(axis)].name; }
  std::string memory_name(int memory) const { return schedule_.memories[static_cast<std::size_t>(memory)].name; }
  std::string loop_text(const Loop& loop) const {
    std::vector<std::string> names;
    for (const int axis : loop.axes) names.push_back(axis_name(axis));
    static constexpr std::array places{"", ":unrolled", ":item_x", ":item_y", ":turns"};
    const auto counted = fmt::format("{}", fmt::join(names, " "));
    return (names.size() > 1 ? "(" + counted + ")" : counted) + places.at(static_cast<std::size_t>(loop.place));
  }
  std::string do_text(const Do& what) const {
    const auto way = [&](const std::string& name) {
      std::string text = name;
      if (what.from >= 0) text += " " + memory_name(what.from) + " >";
      if (what.to >= 0) text += (what.from >= 0 ? " " : " > ") + memory_name(what.to);
      return what.is_marched ? text + " marched" : text;
    };
    if (what.action == Do::Action::clear)
      return fmt::format("{} = 0 in {}", program_.array(what.array).name, memory_name(what.to));
    if (what.action == Do::Action::copy) return way(program_.array(what.array).name + " copy");
    const auto& step = program_.steps[static_cast<std::size_t>(what.step)];
    const auto name_of = [&](int array) { return program_.array(array).name; };
    switch (step.kind) {
    case kernel::StepKind::gather:
    case kernel::StepKind::load_nodes:
      return way("read " + name_of(step.target));
    case kernel::StepKind::scatter:
      return way("write " + name_of(step.source));
    case kernel::StepKind::weigh:
      return way("weigh " + name_of(step.target));
    case kernel::StepKind::evaluate:
      return "evaluate";
    default:
      return way(fmt::format("{} {}= {} . {}", name_of(step.target), step.accumulate ? "+" : "",
                             program_.matrix_of(step).name, name_of(step.source)));
    }
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
