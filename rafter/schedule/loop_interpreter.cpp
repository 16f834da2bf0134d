// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <unordered_map>

#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

namespace {

/// Executes the tree of a loop program; every value is kept for all lanes.
class Machine {
public:
  using Reals = std::vector<double>;
  using Integers = std::vector<std::int64_t>;

  Machine(const LoopProgram& program, std::span<const Argument> arguments)
      : vector_width_(static_cast<std::size_t>(program.vector_width)) {
    const auto registers = in_registers(program);
    std::size_t next = 0;
    for (const auto& buffer : program.buffers) {
      auto& memory = memory_[buffer.name];
      memory.type = buffer.type;
      memory.moved_bytes = registers.contains(buffer.name) ? 0 : size_bytes(buffer.type);
      if (buffer.space == Space::global) {
        if (next >= arguments.size()) throw base::InternalError("interpreter: too few arguments");
        memory.argument = arguments[next++];
      } else
        memory.own(buffer);
    }
  }
  void run(const NodePtr& body, std::int64_t batch, std::int64_t last) {
    integers_["batch"] = Integers(vector_width_, batch);
    integers_["last_batch"] = Integers(vector_width_, last);
    statement(body);
  }
  const Traffic& traffic() const { return traffic_; }

private:
  struct Memory {
    Type type = Type::real;
    double moved_bytes = 0; ///< bytes per access; 0: the buffer is in registers
    Argument argument;
    std::vector<double> reals;
    std::vector<float> singles;
    std::vector<std::int32_t> integers;

    /// Becomes a work array, or a constant table with its values.
    void own(const LoopBuffer& buffer) {
      auto values = buffer.values;
      values.resize(static_cast<std::size_t>(buffer.size));
      reals.assign(values.begin(), values.end());
      for (const double value : values) {
        if (type == Type::real32) singles.push_back(static_cast<float>(value));
        if (type == Type::integer) integers.push_back(static_cast<std::int32_t>(value));
      }
      argument = {reals, integers, singles};
    }
  };

  template <class T> static T& cell(std::span<T> values, const std::string& buffer, std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(values.size()))
      throw base::InternalError("interpreter: index " + std::to_string(index) + " leaves buffer " + buffer);
    return values[static_cast<std::size_t>(index)];
  }
  double read(const std::string& buffer, std::int64_t index) {
    const auto& memory = memory_.at(buffer);
    return memory.type == Type::real32 ? cell(memory.argument.singles, buffer, index)
                                       : cell(memory.argument.reals, buffer, index);
  }
  void write(const std::string& buffer, std::int64_t index, double value) {
    const auto& memory = memory_.at(buffer);
    if (memory.type == Type::real32)
      cell(memory.argument.singles, buffer, index) = static_cast<float>(value);
    else
      cell(memory.argument.reals, buffer, index) = value;
  }

  void statement(const NodePtr& node) {
    switch (node->kind) {
    case Kind::block:
      for (const auto& child : node->operands) statement(child);
      break;
    case Kind::loop: {
      const std::int64_t count = integer_value(node->operands[0])[0];
      for (std::int64_t i = 0; i < count; ++i) {
        integers_[node->name] = Integers(vector_width_, i);
        statement(node->operands[1]);
      }
      break;
    }
    case Kind::let:
      reals_[node->name] = real_value(node->operands[0]);
      break;
    case Kind::ilet:
      integers_[node->name] = integer_value(node->operands[0]);
      break;
    case Kind::branch:
      statement(integer_value(node->operands[0])[0] != 0 ? node->operands[1] : node->operands[2]);
      break;
    case Kind::store:
    case Kind::add:
      write(*node);
      break;
    case Kind::prefetch:
      integer_value(node->operands[0]);
      break;
    default:
      throw base::InternalError("interpreter: not a statement");
    }
  }
  void write(const Node& node) {
    const auto index = integer_value(node.operands[0]);
    const auto value = real_value(node.operands[1]);
    std::size_t count = node.operands[0]->has_lane ? vector_width_ : 1;
    if (node.operands.size() > 2)
      count = std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(0, integer_value(node.operands[2])[0])));
    for (std::size_t l = 0; l < count; ++l)
      write(node.name, index[l], node.kind == Kind::add ? read(node.name, index[l]) + value[l] : value[l]);
    if (node.is_streaming) return;
    const double bytes = static_cast<double>(count) * memory_.at(node.name).moved_bytes;
    traffic_.written_bytes += bytes;
    if (node.kind == Kind::add) traffic_.read_bytes += bytes;
  }
  void tell_read(const Node& node) {
    const std::size_t count = node.operands[0]->has_lane ? vector_width_ : 1;
    traffic_.read_bytes += static_cast<double>(count) * memory_.at(node.name).moved_bytes;
  }
  Integers integer_value(const NodePtr& node) {
    Integers result(vector_width_, node->integer);
    switch (node->kind) {
    case Kind::integer:
      return result;
    case Kind::variable:
      return integers_.at(node->name);
    case Kind::lane:
      for (std::size_t l = 0; l < vector_width_; ++l) result[l] = static_cast<std::int64_t>(l);
      return result;
    case Kind::iload: {
      const auto index = integer_value(node->operands[0]);
      const auto& values = memory_.at(node->name).argument.integers;
      for (std::size_t l = 0; l < vector_width_; ++l) {
        if (index[l] < 0 || index[l] >= static_cast<std::int64_t>(values.size()))
          throw base::InternalError("interpreter: index " + std::to_string(index[l]) + " leaves buffer " + node->name);
        result[l] = values[static_cast<std::size_t>(index[l])];
      }
      tell_read(*node);
      return result;
    }
    default:
      break;
    }
    const auto a = integer_value(node->operands[0]);
    const auto b = integer_value(node->operands[1]);
    for (std::size_t l = 0; l < vector_width_; ++l) switch (node->kind) {
      case Kind::iadd:
        result[l] = a[l] + b[l];
        break;
      case Kind::isub:
        result[l] = a[l] - b[l];
        break;
      case Kind::imul:
        result[l] = a[l] * b[l];
        break;
      case Kind::imin:
        result[l] = std::min(a[l], b[l]);
        break;
      case Kind::idiv:
        result[l] = a[l] / b[l];
        break;
      case Kind::ieq:
        result[l] = a[l] == b[l] ? 1 : 0;
        break;
      default:
        throw base::InternalError("interpreter: not an integer expression");
      }
    return result;
  }

  Reals real_value(const NodePtr& node) {
    Reals result(vector_width_, node->value);
    if (node->kind == Kind::number) return result;
    if (node->kind == Kind::reg) return reals_.at(node->name);
    if (node->kind == Kind::load) {
      const auto index = integer_value(node->operands[0]);
      for (std::size_t l = 0; l < vector_width_; ++l) result[l] = read(node->name, index[l]);
      tell_read(*node);
      return result;
    }
    std::vector<Reals> operands;
    for (const auto& operand : node->operands) operands.push_back(real_value(operand));
    operands.resize(3, Reals(vector_width_, 0.0));
    const bool is_conversion = node->kind == Kind::widen || node->kind == Kind::narrow;
    for (std::size_t l = 0; l < vector_width_; ++l)
      result[l] = rounded(is_conversion ? operands[0][l]
                                        : form::apply(node->op, operands[0][l], operands[1][l], operands[2][l]),
                          node->type);
    return result;
  }
  /// Rounds to the precision of the type. For floats, a result that is rounded to a double and then to a float equals
  /// the one rounded once, for sums, products, quotients and square roots: a double has more than twice the digits.
  static double rounded(double value, Type type) {
    return type == Type::real32 ? static_cast<double>(static_cast<float>(value)) : value;
  }

  std::size_t vector_width_;
  std::unordered_map<std::string, Memory> memory_;
  std::unordered_map<std::string, Integers> integers_;
  std::unordered_map<std::string, Reals> reals_;
  Traffic traffic_;
};

} // namespace

Traffic interpret(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                  std::int64_t end) {
  Machine machine(program, arguments);
  for (std::int64_t batch = begin; batch < end; ++batch) machine.run(program.body, batch, end - 1);
  return machine.traffic();
}

} // namespace rafter::schedule
