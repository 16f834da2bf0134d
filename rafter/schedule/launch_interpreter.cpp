// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/launch_interpreter.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <rafter/schedule/loop_evaluator.hpp>
#include <rafter/schedule/race_shadow.hpp>

namespace rafter::schedule {

namespace {

enum class Order : std::uint8_t { ascending, descending };

/// The writes of a run to an entry of a global buffer.
struct Written {
  bool is_written = false;
  double magnitude = 0; ///< sum of the absolute values that were added atomically
  int num_added = 0;    ///< number of these values
};

std::string text_of(const MemoryAccess& access) {
  constexpr std::array verbs{"reads", "writes", "adds atomically"};
  return fmt::format("item {} of group {} {} in {}", access.item, access.group,
                     verbs[static_cast<std::size_t>(access.kind)], print(*access.node));
}

/// Memory with what is known of each entry.
struct Watched {
  LoopMemory entries;
  std::vector<RaceShadow> of_items, of_groups; ///< empty where nobody else writes
  std::vector<std::int64_t> definition;        ///< group that wrote the entry last; empty: entries are always defined
  std::vector<Written> written;                ///< writes to global buffers; empty for others

  Watched(LoopMemory memory, const LoopBuffer& buffer) : entries(std::move(memory)) {
    const bool is_written = buffer.space == Space::global && buffer.is_written;
    const bool is_shared = buffer.space == Space::shared;
    if (is_written || is_shared) of_items.resize(entries.size());
    if (is_written) of_groups.resize(entries.size());
    if (is_written) written.resize(entries.size());
    if (is_shared || buffer.space == Space::work) definition.assign(entries.size(), -1);
  }
};

/// Runs the groups of a launch one by one. A slot is a lane of an item, the lanes of an item side by side.
class GroupMachine final : public LoopEvaluator<GroupMachine> {
public:
  GroupMachine(const LoopProgram& program, std::span<const Argument> arguments)
      : LoopEvaluator(program, static_cast<std::size_t>(program.vector_width * program.launch.num_items())),
        program_(program), lanes_(static_cast<std::size_t>(program.vector_width)), active_(num_slots() / lanes_, true) {
    std::size_t next = 0;
    for (const auto& buffer : program.buffers) {
      const bool is_argument = buffer.space == Space::global;
      if (is_argument && next >= arguments.size()) throw base::InternalError("interpreter: too few arguments");
      const std::size_t copies = buffer.space == Space::work ? active_.size() : 1;
      memory_.emplace_back(is_argument ? LoopMemory(buffer, arguments[next++]) : LoopMemory(buffer, copies), buffer);
    }
  }
  void run(std::int64_t begin, std::int64_t end, Order order) {
    const std::int64_t count = program_.launch.num_groups(end - begin);
    for (std::int64_t turn = 0; turn < count; ++turn) {
      group_ = order == Order::ascending ? turn : count - 1 - turn;
      ++period_;
      define_batches(begin + group_ * program_.launch.batches, end - 1);
      statement(body());
    }
  }
  /// `buffer`: its number in the program.
  const Watched& memory(std::size_t buffer) const { return memory_[buffer]; }

  template <class Visit> void each_slot(const Visit& visit) const {
    for (std::size_t item = 0; item < active_.size(); ++item)
      if (active_[item])
        for (std::size_t lane = 0; lane < lanes_; ++lane) visit(item * lanes_ + lane);
  }
  std::int64_t axis(const Node& node, std::size_t slot) const {
    if (node.kind == Kind::lane) return static_cast<std::int64_t>(slot % lanes_);
    if (node.kind == Kind::group) return group_;
    const auto& extents = program_.launch.items;
    const auto item = static_cast<std::int64_t>(slot / lanes_);
    if (node.integer == 0) return item % extents[0];
    return node.integer == 1 ? item / extents[0] % extents[1] : item / extents[0] / extents[1];
  }
  double read(const LoopStep& step, std::size_t slot, std::int64_t index) {
    auto& memory = memory_[step.place];
    const std::int64_t entry = place(memory, slot, index);
    const double value = memory.entries.read(entry);
    note(memory, entry, {group_, static_cast<int>(slot / lanes_), AccessKind::read, step.node});
    return value;
  }
  std::int64_t read_integer(const LoopStep& step, std::size_t, std::int64_t index) const {
    return memory_[step.place].entries.read_integer(index); // nobody writes integers
  }
  void tell_read(const LoopStep&) const {}

private:
  using Mask = std::vector<bool>; ///< says which items take part, shape (item)

  void statement(LoopStep& step) {
    switch (step.node->kind) {
    case Kind::block:
      for (LoopStep* child : step.operands) statement(*child);
      break;
    case Kind::loop:
      loop(step);
      break;
    case Kind::branch:
      branch(step);
      break;
    case Kind::let:
    case Kind::ilet:
      define(step);
      break;
    case Kind::store:
    case Kind::add:
      write(step);
      break;
    case Kind::barrier:
      if (std::ranges::count(active_, false) > 0)
        fail("a barrier that not all items of group " + std::to_string(group_) + " reach");
      ++period_;
      break;
    case Kind::prefetch:
      integer_value(*step.operands[0]);
      break;
    default:
      throw base::InternalError("interpreter: not a statement");
    }
  }
  /// Runs a statement for those of the present items for which `holds`(value of the first lane).
  template <class Holds> void run_where(const Integers& values, LoopStep& step, const Holds& holds) {
    const Mask before = active_;
    bool is_any = false;
    for (std::size_t item = 0; item < active_.size(); ++item) {
      active_[item] = before[item] && holds(values[item * lanes_]);
      is_any = is_any || active_[item];
    }
    if (is_any) statement(step);
    active_ = before;
  }
  void branch(LoopStep& step) {
    const Integers condition = integer_value(*step.operands[0]); // the statements may ask for it again
    run_where(condition, *step.operands[1], [](std::int64_t value) { return value != 0; });
    run_where(condition, *step.operands[2], [](std::int64_t value) { return value == 0; });
  }
  void loop(LoopStep& step) {
    const Integers counts = integer_value(*step.operands[0]); // the body may ask for it again
    std::int64_t most = 0;
    each_slot([&](std::size_t slot) { most = std::max(most, counts[slot]); });
    for (std::int64_t i = 0; i < most; ++i) {
      define(step, i);
      run_where(counts, *step.operands[1], [i](std::int64_t count) { return i < count; });
    }
  }

  void write(LoopStep& step) {
    const auto& index = integer_value(*step.operands[0]);
    const auto& value = real_value(*step.operands[1]);
    const Node& node = *step.node;
    const auto most = node.operands.size() > 2 ? integer_value(*step.operands[2])
                                               : Integers(num_slots(), std::numeric_limits<std::int64_t>::max());
    const std::size_t width = node.operands[0]->has_lane ? lanes_ : 1;
    auto& memory = memory_[step.place];
    each_slot([&](std::size_t slot) {
      const std::size_t lane = slot % lanes_;
      if (lane < width && static_cast<std::int64_t>(lane) < most[slot])
        write(node, memory, slot, place(memory, slot, index[slot]), value[slot]);
    });
  }
  void write(const Node& node, Watched& memory, std::size_t slot, std::int64_t entry, double value) {
    const bool adds = node.kind == Kind::add;
    const auto before = memory.entries.read(entry); // refuses entries that are not there
    const AccessKind kind = node.is_atomic ? AccessKind::atomic_add : AccessKind::write;
    note(memory, entry, {group_, static_cast<int>(slot / lanes_), kind, &node}, !adds);
    memory.entries.write(entry, adds ? before + value : value);
    if (memory.written.empty()) return;
    auto& written = memory.written[static_cast<std::size_t>(entry)];
    written.is_written = true;
    if (!node.is_atomic) return;
    written.magnitude += std::fabs(value);
    ++written.num_added;
  }

  /// Entry of a buffer at an index: work arrays stand one behind the other, one for each item.
  std::int64_t place(const Watched& memory, std::size_t slot, std::int64_t index) const {
    const auto& buffer = memory.entries.buffer();
    if (buffer.space != Space::work) return index;
    if (index < 0 || index >= buffer.size) fail(fmt::format("index {} leaves buffer {}", index, buffer.name));
    return static_cast<std::int64_t>(slot / lanes_) * buffer.size + index;
  }
  void note(Watched& memory, std::int64_t entry, const MemoryAccess& access, bool defines = false) {
    const auto at = static_cast<std::size_t>(entry);
    if (!memory.definition.empty()) {
      if (!defines && memory.definition[at] != group_) fail_undefined(memory, entry, access);
      memory.definition[at] = group_;
    }
    if (!memory.of_items.empty())
      if (const auto earlier = memory.of_items[at].note(access, access.item, period_))
        fail_race(memory, entry, *earlier, access, "no barrier of the group between them");
    if (!memory.of_groups.empty())
      if (const auto earlier = memory.of_groups[at].note(access, group_, 0))
        fail_race(memory, entry, *earlier, access, "groups run in any order");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw base::InternalError(fmt::format("program {}: {}", program_.name, what));
  }
  [[noreturn]] void fail_undefined(const Watched& memory, std::int64_t entry, const MemoryAccess& access) const {
    const auto& buffer = memory.entries.buffer();
    fail(fmt::format("entry {} of {} is read before {} has written it: {}", entry % buffer.size, buffer.name,
                     buffer.space == Space::work ? "its item" : "its group", text_of(access)));
  }
  [[noreturn]] void fail_race(const Watched& memory, std::int64_t entry, const MemoryAccess& earlier,
                              const MemoryAccess& later, const char* why) const {
    fail(fmt::format("race for entry {} of {}: {}, and {}; {}", entry, memory.entries.buffer().name, text_of(earlier),
                     text_of(later), why));
  }

  const LoopProgram& program_;
  std::size_t lanes_;
  Mask active_;
  std::int64_t group_ = 0;
  std::int64_t period_ = 0;     ///< grows at every barrier and with every group
  std::vector<Watched> memory_; ///< by number of the buffer
};

/// Copies of the arrays of arguments.
struct Copies {
  std::vector<std::vector<double>> reals;
  std::vector<std::vector<float>> singles;
  std::vector<Argument> arguments;

  explicit Copies(std::span<const Argument> of) {
    for (const auto& argument : of) {
      reals.emplace_back(argument.reals.begin(), argument.reals.end());
      singles.emplace_back(argument.singles.begin(), argument.singles.end());
      arguments.push_back({reals.back(), argument.integers, singles.back()});
    }
  }
};

/// Refuses results that depend on the order of the groups. The terms of a sum of n numbers and a beginning may come in
/// any order, and each order rounds n times.
void compare(const LoopProgram& program, const Watched& ascending, const Watched& descending) {
  const auto& buffer = ascending.entries.buffer();
  const double precision =
      buffer.type == Type::real32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < ascending.written.size(); ++i) {
    const auto& [is_written, magnitude, num_added] = ascending.written[i];
    if (!is_written && !descending.written[i].is_written) continue;
    const auto entry = static_cast<std::int64_t>(i);
    const double a = ascending.entries.read(entry), b = descending.entries.read(entry);
    const double bound = precision * num_added * (2 * magnitude + std::fabs(a));
    const bool is_same = a == b || (std::isnan(a) && std::isnan(b)); // infinite numbers have no difference
    if (!is_same && !(std::fabs(a - b) <= bound))
      throw base::InternalError(
          fmt::format("program {}: entry {} of {} is {} when groups run in ascending order, {} in "
                      "descending order",
                      program.name, entry, buffer.name, a, b));
  }
}

} // namespace

void interpret_launch(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                      std::int64_t end) {
  const Copies copies(arguments);
  GroupMachine ascending(program, arguments), descending(program, copies.arguments);
  ascending.run(begin, end, Order::ascending);
  descending.run(begin, end, Order::descending);
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].space == Space::global && program.buffers[i].is_written)
      compare(program, ascending.memory(i), descending.memory(i));
}

} // namespace rafter::schedule
