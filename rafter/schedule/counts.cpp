// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/counts.hpp>

#include <cmath>
#include <string_view>
#include <unordered_map>

#include <rafter/schedule/array_places.hpp>
#include <rafter/schedule/trip_counts.hpp>

namespace rafter::schedule {

namespace {

using form::ScalarOp;

bool is_product(const Node& node) { return node.kind == Kind::operation && node.op == ScalarOp::mul; }
bool is_sum(const Node& node) {
  return node.kind == Kind::operation && (node.op == ScalarOp::add || node.op == ScalarOp::sub);
}

/// The number of times that something is executed, and the number of times that it is written in the text.
struct Times {
  double executed = 1, written = 1;
};

class Counter {
public:
  Counter(const LoopProgram& program, const Node& part) : vector_width_(program.vector_width) {
    const ArrayPlaces places(program.buffers, part);
    for (const auto& buffer : program.buffers) {
      const auto place = places.of(buffer.name);
      const bool is_work = buffer.space == Space::work;
      arrays_[buffer.name] = {.word_bytes = size_bytes(buffer.type),
                              .is_literal = is_work && place == Place::literal,
                              .is_near = buffer.space == Space::global || place == Place::computed,
                              .is_global = buffer.space == Space::global};
    }
    statement(part, {});
  }
  const LoopCounts& counts() const { return counts_; }

private:
  struct Array {
    int word_bytes = 8;
    bool is_literal = false; ///< a work array whose indices are all numbers
    bool is_near = false;    ///< accesses go to the nearest cache
    bool is_global = false;
  };

  void statement(const Node& node, const Times& times) {
    switch (node.kind) {
    case Kind::block:
      for (const auto& child : node.operands) statement(*child, times);
      break;
    case Kind::loop:
      loop(node, times);
      break;
    case Kind::branch:
      branch(node, times);
      break;
    case Kind::let:
      let(node, times);
      break;
    case Kind::ilet:
      index(*node.operands[0], times);
      break;
    case Kind::store:
    case Kind::add:
      write(node, times);
      break;
    case Kind::prefetch:
      if (!is_in_run_) instructions().loads += times.executed;
      lists(*node.operands[0], times.executed);
      break;
    default:
      break;
    }
  }

  void branch(const Node& node, const Times& times) {
    index(*node.operands[0], times);
    const double first = loops_.share_of_first(*node.operands[0]);
    statement(*node.operands[1], {times.executed * first, times.written});
    if (first < 1) statement(*node.operands[2], {times.executed * (1 - first), times.written});
  }
  /// Says whether a loop asks for lines of a list, of which the mesh has as many as it has: none where vectors stay in
  /// a cache.
  static bool asks_by_list(const Node& loop) {
    const auto& inside = loop.operands[1]->operands;
    return !inside.empty() && inside.front()->kind == Kind::ilet && inside.back()->kind == Kind::prefetch;
  }
  void loop(const Node& node, const Times& times) {
    const bool is_known = node.operands[0]->kind == Kind::integer;
    const double count = is_known ? static_cast<double>(node.operands[0]->integer) : asks_by_list(node) ? 0 : 1;
    const bool is_unrolled = node.style == LoopStyle::unrolled;
    const Times inside{times.executed * count, is_unrolled ? times.written * count : times.written};
    if (node.style == LoopStyle::run) {
      run_instructions(*node.operands[1]->operands[0], count, inside.executed);
      is_in_run_ = true;
      statement(*node.operands[1], inside);
      is_in_run_ = false;
      return;
    }
    if (!is_unrolled) instructions().iterations += inside.executed;
    index(*node.operands[0], times);
    if (is_known) loops_.enter(node.name, count);
    statement(*node.operands[1], inside);
    loops_.leave(node.name);
  }

  /// Instructions of a run (consecutive numbers per lane): lane by lane, `width` numbers at a time, and their
  /// transposition, which takes log2(width) exchanges.
  void run_instructions(const Node& move, double width, double executed) {
    auto& to = instructions();
    const double steps = executed * vector_width_ / width;
    to.text += 2;
    if (move.operands[1]->kind != Kind::load) to.arithmetic += steps; // the precision is converted
    to.arithmetic += executed * std::log2(width);
    if (move.kind == Kind::add) {
      to.loads += executed;
      to.scatters += steps;
    } else {
      to.loads += steps;
      to.stores += executed;
    }
  }

  void let(const Node& node, const Times& times) {
    const bool is_vector = real(*node.operands[0], times);
    vectors_[node.name] = is_vector;
    products_.erase(node.name);
    if (is_product(*node.operands[0])) products_[node.name] = times.executed * width(is_vector);
  }

  void write(const Node& node, const Times& times) {
    const Node &place = *node.operands[0], &value = *node.operands[1];
    const bool adds = node.kind == Kind::add;
    const double number = times.executed * width(real(value, times));
    if (adds) {
      operate(times.executed * width(place.has_lane), value.type);
      fuse(value, number);
    }
    index(place, times);
    if (node.operands.size() > 2) lists(*node.operands[2], times.executed);
    move(node, times);
    if (!is_in_run_) write_instructions(node, times);
  }
  void write_instructions(const Node& node, const Times& times) {
    const Node& place = *node.operands[0];
    const bool adds = node.kind == Kind::add;
    auto& to = instructions();
    to.text += times.written;
    // a product that is added takes one instruction with the sum
    if (adds && !is_product(*node.operands[1])) to.arithmetic += times.executed;
    if (arrays_.at(node.name).is_literal) return;
    if (place.has_lane && (!is_contiguous(place) || node.operands.size() > 2))
      to.scatters += times.executed * vector_width_;
    else {
      to.stores += times.executed;
      if (adds) to.loads += times.executed;
    }
  }
  /// Counts the bytes of a store or an addition.
  void move(const Node& node, const Times& times) {
    const auto& array = arrays_.at(node.name);
    const double bytes = array.word_bytes * times.executed * width(node.operands[0]->has_lane);
    const auto add = [&](Traffic& to) {
      to.written_bytes += bytes;
      if (node.kind == Kind::add) to.read_bytes += bytes;
    };
    if (array.is_global) add(counts_.global);
    if (!array.is_near || node.is_streaming) return;
    add(counts_.local);
    if (node.operands.size() > 2) add(counts_.masked);
  }

  /// Counts a real expression; returns whether it varies with the lane.
  bool real(const Node& node, const Times& times) {
    switch (node.kind) {
    case Kind::reg:
      return vectors_[node.name];
    case Kind::load:
      load(node, times);
      return node.operands[0]->has_lane;
    case Kind::widen:
    case Kind::narrow:
      if (!is_in_run_) instructions().arithmetic += times.executed;
      return real(*node.operands[0], times);
    case Kind::operation:
      return operation(node, times);
    default:
      return false;
    }
  }
  void load(const Node& node, const Times& times) {
    const Node& place = *node.operands[0];
    const auto& array = arrays_.at(node.name);
    index(place, times);
    const double bytes = array.word_bytes * times.executed * width(place.has_lane);
    if (array.is_near) counts_.local.read_bytes += bytes;
    if (array.is_global) counts_.global.read_bytes += bytes;
    if (array.is_literal || is_in_run_) return;
    auto& to = instructions();
    to.text += times.written;
    if (!place.has_lane)
      to.broadcasts += times.executed;
    else if (is_contiguous(place))
      to.loads += times.executed;
    else if (node.is_by_lane)
      to.lane_loads += times.executed * vector_width_;
    else
      to.gathers += times.executed;
  }
  bool operation(const Node& node, const Times& times) {
    bool is_vector = false, is_fused = false;
    for (const auto& operand : node.operands) {
      const bool has_lanes = real(*operand, times);
      is_vector = is_vector || has_lanes;
      is_fused = is_fused || (is_sum(node) && fuse(*operand, times.executed * width(has_lanes)));
    }
    operate(times.executed * width(is_vector) * form::info(node.op).flops, node.type);
    if (!is_in_run_) operation_instructions(node, times, is_vector);
    return is_vector;
  }
  void operation_instructions(const Node& node, const Times& times, bool is_vector) {
    auto& to = instructions();
    to.text += times.written;
    switch (form::info(node.op).effort) {
    case form::Effort::quotient:
      to.divisions += times.executed;
      return;
    case form::Effort::function:
      to.functions += times.executed * width(is_vector);
      return;
    case form::Effort::simple:
      break;
    }
    const bool is_fused = is_sum(node) && (is_product(*node.operands[0]) || is_product(*node.operands[1]));
    // A change of sign is part of the instruction that takes it; one of the products of a sum is fused with the sum.
    if (node.op != ScalarOp::neg && !is_fused) to.arithmetic += times.executed;
  }

  void operate(double number, Type type) {
    counts_.flops += number;
    if (type == Type::real32) counts_.single_flops += number;
    issue(number, type);
  }
  void issue(double number, Type type) {
    counts_.operations += number;
    if (type == Type::real32) counts_.single_operations += number;
  }
  /// Takes back the `number` operations that were counted for `term` if it is a product, here or in a register, because
  /// they are fused with the sum that adds it; returns whether it is one.
  bool fuse(const Node& term, double number) {
    if (is_product(term)) {
      issue(-number, term.type);
      return true;
    }
    const auto found = term.kind == Kind::reg ? products_.find(term.name) : products_.end();
    if (found == products_.end()) return false;
    issue(-found->second, term.type);
    products_.erase(found);
    return true;
  }

  /// Counts an integer expression.
  void index(const Node& node, const Times& times) {
    if (!is_in_run_) instructions().index_loads += times.executed * num_loads(node);
    lists(node, times.executed);
  }
  static double num_loads(const Node& node) {
    double result = node.kind == Kind::iload ? 1 : 0;
    for (const auto& operand : node.operands) result += num_loads(*operand);
    return result;
  }
  /// Counts the bytes that the integer loads of an expression move.
  void lists(const Node& node, double executed) {
    if (node.kind == Kind::iload && arrays_.at(node.name).is_near)
      counts_.local.read_bytes += size_bytes(Type::integer) * executed * width(node.operands[0]->has_lane);
    for (const auto& operand : node.operands) lists(*operand, executed);
  }

  double width(bool is_vector) const { return is_vector ? vector_width_ : 1; }
  Instructions& instructions() { return counts_.instructions; }

  double vector_width_;
  LoopCounts counts_;
  bool is_in_run_ = false; ///< the instructions of a run are counted as a whole, not in its parts
  std::unordered_map<std::string_view, Array> arrays_;
  TripCounts loops_; ///< enclosing loops
  std::unordered_map<std::string_view, bool> vectors_;
  /// Registers with a product that no sum has taken yet, and the number of its operations.
  std::unordered_map<std::string_view, double> products_;
};

} // namespace

LoopCounts count(const LoopProgram& program) { return count(program, *program.body); }
LoopCounts count(const LoopProgram& program, const Node& part) { return Counter(program, part).counts(); }

double work_bytes(const LoopProgram& program) {
  double bytes = 0;
  for (const auto& buffer : program.buffers)
    if (buffer.space == Space::work) bytes += static_cast<double>(buffer.size) * size_bytes(buffer.type);
  return bytes;
}

} // namespace rafter::schedule
