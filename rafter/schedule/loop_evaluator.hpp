// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_program.hpp>

/// The parts that the interpreters of loop programs share: memory, and the values of expressions.
namespace rafter::schedule {

/// Rounds to the precision of the type. For floats, a result that is rounded to a double and then to a float equals the
/// one rounded once, for sums, products, quotients and square roots: a double has more than twice the digits.
inline double rounded(double value, Type type) {
  return type == Type::real32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// The entries of one buffer: an argument's, or its own. Entries beyond the end throw InternalError.
class LoopMemory {
public:
  LoopMemory(const LoopBuffer& buffer, const Argument& argument) : buffer_(&buffer), values_(argument) {}
  /// `copies`: how many of the buffer stand one behind the other, each with the values of a constant table.
  explicit LoopMemory(const LoopBuffer& buffer, std::size_t copies = 1) : buffer_(&buffer) {
    auto values = buffer.values;
    values.resize(static_cast<std::size_t>(buffer.size) * copies);
    if (buffer.type == Type::real)
      reals_.assign(values.begin(), values.end());
    else
      for (const double value : values)
        if (buffer.type == Type::real32)
          singles_.push_back(static_cast<float>(value));
        else
          integers_.push_back(static_cast<std::int32_t>(value));
    values_ = {reals_, integers_, singles_};
  }
  LoopMemory(LoopMemory&&) = default;
  LoopMemory(const LoopMemory&) = delete;
  LoopMemory& operator=(const LoopMemory&) = delete;
  LoopMemory& operator=(LoopMemory&&) = delete;
  ~LoopMemory() = default;

  const LoopBuffer& buffer() const { return *buffer_; }
  std::size_t size() const {
    return buffer_->type == Type::real     ? values_.reals.size()
           : buffer_->type == Type::real32 ? values_.singles.size()
                                           : values_.integers.size();
  }
  double read(std::int64_t index) const {
    return buffer_->type == Type::real32 ? entry(values_.singles, index) : entry(values_.reals, index);
  }
  std::int64_t read_integer(std::int64_t index) const { return entry(values_.integers, index); }
  void write(std::int64_t index, double value) const {
    if (buffer_->type == Type::real32)
      entry(values_.singles, index) = static_cast<float>(value);
    else
      entry(values_.reals, index) = value;
  }

private:
  template <class T> T& entry(std::span<T> values, std::int64_t index) const {
    if (index < 0 || index >= static_cast<std::int64_t>(values.size()))
      throw base::InternalError("interpreter: index " + std::to_string(index) + " leaves buffer " + buffer_->name);
    return values[static_cast<std::size_t>(index)];
  }

  const LoopBuffer* buffer_;
  Argument values_;
  std::vector<double> reals_;
  std::vector<float> singles_;
  std::vector<std::int32_t> integers_;
};

/// Values of expressions. Each slot has one of its own: a lane, or a lane of an item. The interpreter `Machine` derives
/// from this and has
///   each_slot(f)                    calls f(slot) for the slots that take part in the present statement,
///   axis(node, slot)                gives the number of the lane, the group or the item,
///   read(node, slot, index)         gives an entry of the buffer of a load,
///   read_integer(node, slot, index) that of an iload,
///   tell_read(node)                 hears of the load as a whole.
template <class Machine> class LoopEvaluator {
public:
  using Reals = std::vector<double>;
  using Integers = std::vector<std::int64_t>;

protected:
  explicit LoopEvaluator(std::size_t num_slots) : num_slots_(num_slots) {}

  void define(const std::string& name, std::int64_t value) { integers_[name] = Integers(num_slots_, value); }
  void define(const Node& node) {
    if (node.kind == Kind::let)
      reals_[node.name] = real_value(*node.operands[0]);
    else
      integers_[node.name] = integer_value(*node.operands[0]);
  }

  Integers integer_value(const Node& node) {
    Integers result(num_slots_, node.integer);
    switch (node.kind) {
    case Kind::integer:
      return result;
    case Kind::variable:
      return integers_.at(node.name);
    case Kind::lane:
    case Kind::group:
    case Kind::item:
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().axis(node, slot); });
      return result;
    case Kind::iload: {
      const auto index = integer_value(*node.operands[0]);
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().read_integer(node, slot, index[slot]); });
      machine().tell_read(node);
      return result;
    }
    default:
      break;
    }
    const auto a = integer_value(*node.operands[0]), b = integer_value(*node.operands[1]);
    machine().each_slot([&](std::size_t slot) { result[slot] = combined(node.kind, a[slot], b[slot]); });
    return result;
  }

  Reals real_value(const Node& node) {
    Reals result(num_slots_, node.value);
    if (node.kind == Kind::number) return result;
    if (node.kind == Kind::reg) return reals_.at(node.name);
    if (node.kind == Kind::load) {
      const auto index = integer_value(*node.operands[0]);
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().read(node, slot, index[slot]); });
      machine().tell_read(node);
      return result;
    }
    std::vector<Reals> operands;
    for (const auto& operand : node.operands) operands.push_back(real_value(*operand));
    operands.resize(3, Reals(num_slots_, 0.0));
    const bool is_conversion = node.kind == Kind::widen || node.kind == Kind::narrow;
    machine().each_slot([&](std::size_t slot) {
      result[slot] =
          rounded(is_conversion ? operands[0][slot]
                                : form::apply(node.op, operands[0][slot], operands[1][slot], operands[2][slot]),
                  node.type);
    });
    return result;
  }

  std::size_t num_slots() const { return num_slots_; }

private:
  Machine& machine() { return static_cast<Machine&>(*this); }
  static std::int64_t combined(Kind kind, std::int64_t a, std::int64_t b) {
    switch (kind) {
    case Kind::iadd:
      return a + b;
    case Kind::isub:
      return a - b;
    case Kind::imul:
      return a * b;
    case Kind::imin:
      return std::min(a, b);
    case Kind::idiv:
      return a / b;
    case Kind::ieq:
      return a == b ? 1 : 0;
    case Kind::ilt:
      return a < b ? 1 : 0;
    default:
      throw base::InternalError("interpreter: not an integer expression");
    }
  }

  std::size_t num_slots_;
  std::unordered_map<std::string, Integers> integers_;
  std::unordered_map<std::string, Reals> reals_;
};

} // namespace rafter::schedule
