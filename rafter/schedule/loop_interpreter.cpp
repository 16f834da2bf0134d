// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <unordered_map>

#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_evaluator.hpp>

namespace rafter::schedule {

namespace {

/// Executes the tree of a host program, one batch after the other; a slot is a lane.
class Machine final : public LoopEvaluator<Machine> {
public:
  Machine(const LoopProgram& program, std::span<const Argument> arguments)
      : LoopEvaluator(static_cast<std::size_t>(program.vector_width)) {
    const auto registers = in_registers(program);
    std::size_t next = 0;
    for (const auto& buffer : program.buffers) {
      const bool is_argument = buffer.space == Space::global;
      if (is_argument && next >= arguments.size()) throw base::InternalError("interpreter: too few arguments");
      const double moved_bytes = registers.contains(buffer.name) ? 0 : size_bytes(buffer.type);
      memory_.emplace(buffer.name,
                      Memory{is_argument ? LoopMemory(buffer, arguments[next++]) : LoopMemory(buffer), moved_bytes});
    }
  }
  void run(const NodePtr& body, std::int64_t group, std::int64_t batch, std::int64_t last) {
    group_ = group;
    define("batch", batch);
    define("last_batch", last);
    statement(*body);
  }
  const Traffic& traffic() const { return traffic_; }

  template <class Visit> void each_slot(const Visit& visit) const {
    for (std::size_t lane = 0; lane < num_slots(); ++lane) visit(lane);
  }
  std::int64_t axis(const Node& node, std::size_t lane) const {
    if (node.kind == Kind::lane) return static_cast<std::int64_t>(lane);
    return node.kind == Kind::group ? group_ : 0;
  }
  double read(const Node& node, std::size_t, std::int64_t index) const {
    return memory_.at(node.name).entries.read(index);
  }
  std::int64_t read_integer(const Node& node, std::size_t, std::int64_t index) const {
    return memory_.at(node.name).entries.read_integer(index);
  }
  void tell_read(const Node& node) {
    const std::size_t count = node.operands[0]->has_lane ? num_slots() : 1;
    traffic_.read_bytes += static_cast<double>(count) * memory_.at(node.name).moved_bytes;
  }

private:
  struct Memory {
    LoopMemory entries;
    double moved_bytes = 0; ///< bytes per access; 0: the buffer is in registers
  };

  void statement(const Node& node) {
    switch (node.kind) {
    case Kind::block:
      for (const auto& child : node.operands) statement(*child);
      break;
    case Kind::loop: {
      const std::int64_t count = integer_value(*node.operands[0])[0];
      for (std::int64_t i = 0; i < count; ++i) {
        define(node.name, i);
        statement(*node.operands[1]);
      }
      break;
    }
    case Kind::let:
    case Kind::ilet:
      define(node);
      break;
    case Kind::branch:
      statement(*node.operands[integer_value(*node.operands[0])[0] != 0 ? 1 : 2]);
      break;
    case Kind::store:
    case Kind::add:
      write(node);
      break;
    case Kind::barrier: // the only item of its group waits for nobody
      break;
    case Kind::prefetch:
      integer_value(*node.operands[0]);
      break;
    default:
      throw base::InternalError("interpreter: not a statement");
    }
  }
  void write(const Node& node) {
    const auto index = integer_value(*node.operands[0]);
    const auto value = real_value(*node.operands[1]);
    std::size_t count = node.operands[0]->has_lane ? num_slots() : 1;
    if (node.operands.size() > 2)
      count = std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(0, integer_value(*node.operands[2])[0])));
    const auto& [entries, moved_bytes] = memory_.at(node.name);
    for (std::size_t l = 0; l < count; ++l)
      entries.write(index[l], node.kind == Kind::add ? entries.read(index[l]) + value[l] : value[l]);
    if (node.is_streaming) return;
    const double bytes = static_cast<double>(count) * moved_bytes;
    traffic_.written_bytes += bytes;
    if (node.kind == Kind::add) traffic_.read_bytes += bytes;
  }

  std::int64_t group_ = 0;
  std::unordered_map<std::string, Memory> memory_;
  Traffic traffic_;
};

} // namespace

Traffic interpret(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                  std::int64_t end) {
  if (!program.launch.is_of_host())
    throw base::InternalError("interpreter: the groups of program " + program.name + " are no batches of a host");
  Machine machine(program, arguments);
  for (std::int64_t batch = begin; batch < end; ++batch) machine.run(program.body, batch - begin, batch, end - 1);
  return machine.traffic();
}

} // namespace rafter::schedule
