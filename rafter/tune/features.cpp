// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/features.hpp>

#include <cmath>
#include <set>
#include <string>
#include <unordered_map>

namespace rafter::tune {

namespace {

using form::ScalarOp;
using schedule::Kind;
using schedule::Node;
using schedule::NodePtr;
using schedule::Space;

bool is_product(const NodePtr& node) { return node->kind == Kind::operation && node->op == ScalarOp::mul; }

/// Index x + lane: one load or store of consecutive numbers.
bool is_contiguous(const Node& index) {
  return index.kind == Kind::lane ||
         (index.kind == Kind::iadd && index.operands[1]->kind == Kind::lane && !index.operands[0]->has_lane);
}

/// Index without variables.
bool is_constant(const Node& index) {
  if (index.kind == Kind::variable || index.kind == Kind::iload) return false;
  for (const auto& operand : index.operands)
    if (!is_constant(*operand)) return false;
  return true;
}

class Counter {
public:
  explicit Counter(const schedule::LoopProgram& program) : program_(program) {
    for (const auto& buffer : program.buffers)
      if (buffer.space == Space::work) registers_.insert(buffer.name);
    features_.work_bytes = schedule::work_bytes(program);
    find_registers(*program.body);
  }

  Features run() {
    statement(*program_.body, 1, 1);
    const auto counts = schedule::count(program_);
    features_.flops = counts.flops;
    features_.operations = counts.operations;
    if (counts.single_flops > counts.flops / 2) features_.word_bytes = size_bytes(schedule::Type::real32);
    return features_;
  }

private:
  void find_registers(const Node& node) {
    const bool is_access = node.kind == Kind::load || node.kind == Kind::store || node.kind == Kind::add;
    if (is_access && !is_constant(*node.operands[0])) registers_.erase(node.name);
    for (const auto& operand : node.operands) find_registers(*operand);
  }
  bool is_register(const std::string& buffer) const { return registers_.contains(buffer); }

  /// `times`: executions; `copies`: how often it stands in the text.
  void statement(const Node& node, double times, double copies) {
    switch (node.kind) {
    case Kind::block:
      for (const auto& child : node.operands) statement(*child, times, copies);
      break;
    case Kind::loop: {
      const bool is_known = node.operands[0]->kind == Kind::integer;
      const double count = is_known ? static_cast<double>(node.operands[0]->integer) : 1;
      if (node.style == schedule::LoopStyle::run) {
        run(*node.operands[1]->operands[0], count, times * count);
        break;
      }
      const bool is_unrolled = node.style == schedule::LoopStyle::unrolled;
      if (!is_unrolled) features_.iterations += times * count;
      index(*node.operands[0], times);
      statement(*node.operands[1], times * count, is_unrolled ? copies * count : copies);
      break;
    }
    case Kind::branch:
      index(*node.operands[0], times);
      statement(*node.operands[1], times, copies);
      break;
    case Kind::let:
      vectors_[node.name] = real(*node.operands[0], times, copies);
      break;
    case Kind::ilet:
      index(*node.operands[0], times);
      break;
    case Kind::store:
    case Kind::add:
      write(node, times, copies);
      break;
    case Kind::prefetch:
      features_.loads += times;
      break;
    default:
      break;
    }
  }

  /// Lane by lane `width` consecutive numbers at a time, and their turn: as many exchanges as the width has bits.
  void run(const Node& move, double width, double times) {
    const double steps = times * program_.lanes / width;
    features_.text += 2;
    if (move.operands[1]->kind != Kind::load) features_.arithmetic += steps; // converted
    features_.arithmetic += times * std::log2(width);
    if (move.kind == Kind::add) {
      features_.loads += times;
      features_.scatters += steps;
    } else {
      features_.loads += steps;
      features_.stores += times;
    }
  }

  void write(const Node& node, double times, double copies) {
    const Node& place = *node.operands[0];
    const bool adds = node.kind == Kind::add;
    real(*node.operands[1], times, copies);
    index(place, times);
    features_.text += copies;
    // a product that is added is one instruction with the sum
    if (adds && !is_product(node.operands[1])) features_.arithmetic += times;
    if (is_register(node.name)) return;
    if (place.has_lane && (!is_contiguous(place) || node.operands.size() > 2))
      features_.scatters += times * program_.lanes;
    else {
      features_.stores += times;
      if (adds) features_.loads += times;
    }
  }

  /// True when the value varies with the lane.
  bool real(const Node& node, double times, double copies) {
    if (node.kind == Kind::reg) return vectors_[node.name];
    if (node.kind == Kind::load) return load(node, times, copies);
    if (node.kind == Kind::widen || node.kind == Kind::narrow) {
      features_.arithmetic += times;
      return real(*node.operands[0], times, copies);
    }
    if (node.kind != Kind::operation) return false;
    bool is_vector = false;
    for (const auto& operand : node.operands) is_vector = real(*operand, times, copies) || is_vector;
    operation(node, times, copies, is_vector);
    return is_vector;
  }

  void operation(const Node& node, double times, double copies, bool is_vector) {
    features_.text += copies;
    switch (form::info(node.op).effort) {
    case form::Effort::quotient:
      features_.divisions += times;
      return;
    case form::Effort::function:
      features_.functions += times * (is_vector ? program_.lanes : 1);
      return;
    case form::Effort::simple:
      break;
    }
    const bool is_sum = node.op == ScalarOp::add || node.op == ScalarOp::sub;
    const bool is_fused = is_sum && (is_product(node.operands[0]) || is_product(node.operands[1]));
    // a sign is one of the instruction that takes it, one of the products of a sum is fused with it
    if (node.op != ScalarOp::neg && !is_fused) features_.arithmetic += times;
  }

  bool load(const Node& node, double times, double copies) {
    const Node& place = *node.operands[0];
    index(place, times);
    if (is_register(node.name)) return place.has_lane;
    features_.text += copies;
    if (!place.has_lane)
      features_.broadcasts += times;
    else
      (is_contiguous(place) ? features_.loads : features_.gathers) += times;
    return place.has_lane;
  }

  void index(const Node& node, double times) {
    if (node.kind == Kind::iload) features_.index_loads += times;
    for (const auto& operand : node.operands) index(*operand, times);
  }

  const schedule::LoopProgram& program_;
  Features features_;
  std::set<std::string> registers_;
  std::unordered_map<std::string, bool> vectors_;
};

} // namespace

Features count_features(const LoweredPlan& lowered, const KernelProblem& problem) {
  Features result = Counter(lowered.loops).run();
  // programs without lanes loop over the cells of a batch, whose number is known at run time
  const double cells = lowered.loops.lanes == 1 ? problem.lanes : 1;
  const double work_bytes = result.work_bytes, text = result.text, word_bytes = result.word_bytes;
  for (const auto& feature : feature_names) result.*feature.value *= cells;
  result.work_bytes = work_bytes;
  result.text = text;
  result.word_bytes = word_bytes;
  result.lanes = lowered.loops.lanes;
  result.data_bytes = lowered.data_bytes;
  result.vector_bytes = problem.input_bytes + problem.output_bytes;
  return result;
}

} // namespace rafter::tune
