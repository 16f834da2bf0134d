// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_evaluator.hpp>

namespace rafter::schedule {

namespace {

/// Executes the tree of a host program, one batch after the other; a slot is a lane.
class Machine final : public LoopEvaluator<Machine> {
public:
  Machine(const LoopProgram& program, std::span<const Argument> arguments)
      : LoopEvaluator(program, static_cast<std::size_t>(program.vector_width)) {
    const auto registers = in_registers(program);
    std::size_t next = 0;
    for (const auto& buffer : program.buffers) {
      const bool is_argument = buffer.space == Space::global;
      if (is_argument && next >= arguments.size()) throw base::InternalError("interpreter: too few arguments");
      const double moved_bytes = registers.contains(buffer.name) ? 0 : size_bytes(buffer.type);
      memory_.push_back({is_argument ? LoopMemory(buffer, arguments[next++]) : LoopMemory(buffer), moved_bytes});
    }
  }
  void run(std::int64_t group, std::int64_t batch, std::int64_t last) {
    group_ = group;
    define_batches(batch, last);
    statement(body());
  }
  const Traffic& traffic() const { return traffic_; }

  template <class Visit> void each_slot(const Visit& visit) const {
    for (std::size_t lane = 0; lane < num_slots(); ++lane) visit(lane);
  }
  std::int64_t axis(const Node& node, std::size_t lane) const {
    if (node.kind == Kind::lane) return static_cast<std::int64_t>(lane);
    return node.kind == Kind::group ? group_ : 0;
  }
  double read(const LoopStep& step, std::size_t, std::int64_t index) const {
    return memory_[step.place].entries.read(index);
  }
  std::int64_t read_integer(const LoopStep& step, std::size_t, std::int64_t index) const {
    return memory_[step.place].entries.read_integer(index);
  }
  void tell_read(const LoopStep& step) {
    const std::size_t count = step.node->operands[0]->has_lane ? num_slots() : 1;
    traffic_.read_bytes += static_cast<double>(count) * memory_[step.place].moved_bytes;
  }

private:
  struct Memory {
    LoopMemory entries;
    double moved_bytes = 0; ///< bytes per access; 0: the buffer is in registers
  };

  void statement(LoopStep& step) {
    switch (step.node->kind) {
    case Kind::block:
      for (LoopStep* child : step.operands) statement(*child);
      break;
    case Kind::loop: {
      const std::int64_t count = integer_value(*step.operands[0])[0];
      for (std::int64_t i = 0; i < count; ++i) {
        define(step, i);
        statement(*step.operands[1]);
      }
      break;
    }
    case Kind::let:
    case Kind::ilet:
      define(step);
      break;
    case Kind::branch:
      statement(*step.operands[integer_value(*step.operands[0])[0] != 0 ? 1 : 2]);
      break;
    case Kind::store:
    case Kind::add:
      write(step);
      break;
    case Kind::barrier: // the only item of its group waits for nobody
      break;
    case Kind::prefetch:
      integer_value(*step.operands[0]);
      break;
    default:
      throw base::InternalError("interpreter: not a statement");
    }
  }
  void write(LoopStep& step) {
    const auto& index = integer_value(*step.operands[0]);
    const auto& value = real_value(*step.operands[1]);
    const Node& node = *step.node;
    std::size_t count = node.operands[0]->has_lane ? num_slots() : 1;
    if (node.operands.size() > 2)
      count = std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(0, integer_value(*step.operands[2])[0])));
    const auto& [entries, moved_bytes] = memory_[step.place];
    for (std::size_t l = 0; l < count; ++l)
      entries.write(index[l], node.kind == Kind::add ? entries.read(index[l]) + value[l] : value[l]);
    if (node.is_streaming) return;
    const double bytes = static_cast<double>(count) * moved_bytes;
    traffic_.written_bytes += bytes;
    if (node.kind == Kind::add) traffic_.read_bytes += bytes;
  }

  std::int64_t group_ = 0;
  std::vector<Memory> memory_; ///< by number of the buffer
  Traffic traffic_;
};

} // namespace

Traffic interpret(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                  std::int64_t end) {
  if (!program.launch.is_of_host())
    throw base::InternalError("interpreter: the groups of program " + program.name + " are no batches of a host");
  Machine machine(program, arguments);
  for (std::int64_t batch = begin; batch < end; ++batch) machine.run(batch - begin, batch, end - 1);
  return machine.traffic();
}

} // namespace rafter::schedule
