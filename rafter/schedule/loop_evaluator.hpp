// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <deque>
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

/// A node whose names are numbers, so that running a statement looks up nothing, with room for its value.
struct LoopStep {
  const Node* node = nullptr;
  std::vector<LoopStep*> operands;
  std::size_t place = 0; ///< number of the variable, the register or the buffer that the node names
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
};

/// Values of expressions. Each slot has one of its own: a lane, or a lane of an item. The interpreter `Machine` derives
/// from this and has
///   each_slot(f)                    calls f(slot) for the slots that take part in the present statement,
///   axis(node, slot)                gives the number of the lane, the group or the item,
///   read(step, slot, index)         gives an entry of the buffer of a load, whose number in the program is step.place,
///   read_integer(step, slot, index) that of an iload,
///   tell_read(step)                 hears of the load as a whole.
template <class Machine> class LoopEvaluator {
public:
  using Reals = std::vector<double>;
  using Integers = std::vector<std::int64_t>;

protected:
  LoopEvaluator(const LoopProgram& program, std::size_t num_slots) : num_slots_(num_slots) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) buffers_.emplace(program.buffers[i].name, i);
    batch_ = place_of("batch", integers_);
    last_batch_ = place_of("last_batch", integers_);
    body_ = step_of(*program.body);
  }

  LoopStep& body() { return *body_; }
  void define_batches(std::int64_t batch, std::int64_t last) {
    integers_.values[batch_].assign(num_slots_, batch);
    integers_.values[last_batch_].assign(num_slots_, last);
  }
  /// The variable of a loop has the value i.
  void define(const LoopStep& loop, std::int64_t i) { integers_.values[loop.place].assign(num_slots_, i); }
  /// A let or an ilet.
  void define(const LoopStep& step) {
    if (step.node->kind == Kind::let)
      reals_.values[step.place] = real_value(*step.operands[0]);
    else
      integers_.values[step.place] = integer_value(*step.operands[0]);
  }

  /// Values of an expression, those of slots that take no part being any. They hold until the expression is asked for
  /// again.
  const Integers& integer_value(LoopStep& step) {
    const Node& node = *step.node;
    Integers& result = step.integers;
    switch (node.kind) {
    case Kind::integer:
      return result;
    case Kind::variable:
      return integers_.values[step.place];
    case Kind::lane:
    case Kind::group:
    case Kind::item:
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().axis(node, slot); });
      return result;
    case Kind::iload: {
      const auto& index = integer_value(*step.operands[0]);
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().read_integer(step, slot, index[slot]); });
      machine().tell_read(step);
      return result;
    }
    default:
      break;
    }
    const auto& a = integer_value(*step.operands[0]);
    const auto& b = integer_value(*step.operands[1]);
    machine().each_slot([&](std::size_t slot) { result[slot] = combined(node.kind, a[slot], b[slot]); });
    return result;
  }

  const Reals& real_value(LoopStep& step) {
    const Node& node = *step.node;
    Reals& result = step.reals;
    if (node.kind == Kind::number) return result;
    if (node.kind == Kind::reg) return reals_.values[step.place];
    if (node.kind == Kind::load) {
      const auto& index = integer_value(*step.operands[0]);
      machine().each_slot([&](std::size_t slot) { result[slot] = machine().read(step, slot, index[slot]); });
      machine().tell_read(step);
      return result;
    }
    std::array<const double*, 3> operands{zeros_.data(), zeros_.data(), zeros_.data()};
    for (std::size_t i = 0; i < step.operands.size(); ++i) operands[i] = real_value(*step.operands[i]).data();
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
  /// What names name, by number.
  template <class Values> struct Named {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<Values> values;
  };

  template <class Values> std::size_t place_of(const std::string& name, Named<Values>& named) {
    const auto [found, is_new] = named.places.emplace(name, named.values.size());
    if (is_new) named.values.emplace_back(num_slots_);
    return found->second;
  }
  std::size_t place_of(const Node& node) {
    switch (node.kind) {
    case Kind::variable:
    case Kind::loop:
    case Kind::ilet:
      return place_of(node.name, integers_);
    case Kind::reg:
    case Kind::let:
      return place_of(node.name, reals_);
    case Kind::load:
    case Kind::iload:
    case Kind::store:
    case Kind::add: {
      const auto found = buffers_.find(node.name);
      if (found == buffers_.end()) throw base::InternalError("interpreter: there is no buffer " + node.name);
      return found->second;
    }
    default:
      return 0;
    }
  }
  LoopStep* step_of(const Node& node) {
    const auto [found, is_new] = step_of_node_.emplace(&node, nullptr);
    if (!is_new) return found->second;
    LoopStep step{.node = &node, .operands = {}, .place = place_of(node), .reals = {}, .integers = {}};
    for (const auto& operand : node.operands) step.operands.push_back(step_of(*operand));
    if (node.kind <= Kind::iload)
      step.integers.assign(num_slots_, node.integer);
    else if (node.kind <= Kind::operation)
      step.reals.assign(num_slots_, node.value);
    steps_.push_back(std::move(step));
    return step_of_node_[&node] = &steps_.back();
  }

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
  std::vector<double> zeros_ = std::vector<double>(num_slots_);
  Named<Integers> integers_;
  Named<Reals> reals_;
  std::unordered_map<std::string, std::size_t> buffers_;
  std::size_t batch_ = 0, last_batch_ = 0;
  std::deque<LoopStep> steps_; ///< where they stand they stay
  std::unordered_map<const Node*, LoopStep*> step_of_node_;
  LoopStep* body_ = nullptr;
};

} // namespace rafter::schedule
