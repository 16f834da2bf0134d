// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/access_trace.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace rafter::schedule {
namespace {

/// Value of an index. An index that is known only when the kernel runs gets a hash value: equal expressions have equal
/// ones, and different expressions collide with a probability of 2^-64.
struct Index {
  std::uint64_t value = 0;
  bool is_known = true; ///< the value is known when the program is written
};

/// Mixes two values with the finaliser of splitmix64 (Steele, Lea, Flood, doi:10.1145/2714064.2660195).
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U + b + 0x632be59bd9b4e019U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

class Tracer {
public:
  Tracer(const LoopProgram& program, std::int64_t most) : vector_width_(program.vector_width), most_(most) {
    const auto registers = in_registers(program);
    for (const auto& buffer : program.buffers)
      arrays_[buffer.name] = {.buffer = &buffer,
                              .number = static_cast<std::uint64_t>(arrays_.size()),
                              .is_register = registers.contains(buffer.name)};
    variables_ = {{"batch", {mixed(1, 0), false}}, {"last_batch", {mixed(2, 0), false}}};
    statement(*program.body);
  }
  std::vector<TraceEvent> result() && { return std::move(events_); }

private:
  struct Array {
    const LoopBuffer* buffer = nullptr;
    std::uint64_t number = 0;
    bool is_register = false;
  };
  struct Variable {
    std::string_view name;
    Index value;
  };
  using EventKind = TraceEvent::Kind;

  void statement(const Node& node) {
    if (num_accesses_ >= most_) return;
    switch (node.kind) {
    case Kind::block: {
      const auto num_visible = variables_.size();
      for (const auto& child : node.operands) statement(*child);
      variables_.resize(num_visible);
      break;
    }
    case Kind::loop:
      loop(node);
      break;
    case Kind::branch: {
      const auto condition = index(*node.operands[0]);
      statement(*node.operands[condition.is_known && condition.value == 0 ? 2 : 1]);
      break;
    }
    case Kind::ilet:
      variables_.push_back({node.name, index(*node.operands[0])});
      break;
    case Kind::prefetch:
      (void)index(*node.operands[0]);
      break;
    case Kind::let:
      real(*node.operands[0]);
      break;
    case Kind::barrier:
      break;
    default:
      write(node);
      break;
    }
  }
  void loop(const Node& node) {
    const auto count = index(*node.operands[0]);
    const auto iterations = count.is_known ? static_cast<std::int64_t>(count.value) : 1;
    mark(EventKind::begin);
    for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
      variables_.push_back({node.name, {static_cast<std::uint64_t>(iteration), count.is_known}});
      mark(EventKind::begin);
      statement(*node.operands[1]);
      mark(EventKind::end);
      variables_.pop_back();
    }
    mark(EventKind::end);
  }
  void mark(EventKind kind) { events_.push_back({.kind = kind}); }

  void write(const Node& node) {
    real(*node.operands[1]);
    const bool is_masked = node.operands.size() > 2, adds = node.kind == Kind::add;
    if (is_masked) (void)index(*node.operands[2]);
    const bool is_constant = !adds && node.operands[1]->kind == Kind::number;
    if (adds) access(node, {.kind = EventKind::read, .is_masked = is_masked});
    access(node, {.kind = EventKind::write, .is_constant = is_constant, .is_masked = is_masked});
  }
  void real(const Node& node) {
    if (node.kind == Kind::load) access(node, {.kind = EventKind::read});
    for (const auto& operand : node.operands)
      if (node.kind != Kind::load) real(*operand);
  }
  /// Records an access: one event for all lanes, or one per lane where the lanes may overlap other accesses in part.
  void access(const Node& node, TraceEvent event) {
    const auto& array = arrays_.at(node.name);
    const bool has_lanes = node.operands[0]->has_lane;
    const auto place = index(*node.operands[0]);
    if (array.is_register || node.is_streaming) return;
    const int bytes = size_bytes(array.buffer->type);
    event.is_of_batch = !place.is_known;
    const bool is_whole = !has_lanes || array.buffer->is_lane || event.is_of_batch;
    event.bytes = has_lanes && is_whole ? vector_width_ * bytes : bytes;
    for (lane_ = 0; lane_ < (is_whole ? 1 : vector_width_); ++lane_)
      add(event, array, lane_ == 0 ? place : index(*node.operands[0]));
    lane_ = 0;
  }
  void add(TraceEvent event, const Array& array, const Index& place) {
    const auto next = static_cast<std::int32_t>(places_.size());
    event.place = places_.try_emplace(mixed(array.number, place.value), next).first->second;
    events_.push_back(event);
    ++num_accesses_;
  }

  /// Value of an index for the current lane; entries of index lists are those of the first lane.
  Index index(const Node& node) {
    switch (node.kind) {
    case Kind::integer:
      return {static_cast<std::uint64_t>(node.integer), true};
    case Kind::lane:
      return {static_cast<std::uint64_t>(lane_), true};
    case Kind::group:
    case Kind::item:
      return {mixed(static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.integer)), false};
    case Kind::variable:
      return std::ranges::find(variables_.rbegin(), variables_.rend(), node.name, &Variable::name)->value;
    case Kind::iload:
      return loaded(node);
    default:
      return computed(node);
    }
  }
  Index loaded(const Node& node) {
    const auto& array = arrays_.at(node.name);
    const auto place = index(*node.operands[0]);
    if (lane_ == 0 && !array.is_register)
      add({.is_of_batch = !place.is_known,
           .bytes = size_bytes(Type::integer) * (node.operands[0]->has_lane ? vector_width_ : 1)},
          array, place);
    const auto& values = array.buffer->values;
    if (array.buffer->space == Space::constant && place.is_known)
      return {static_cast<std::uint64_t>(static_cast<std::int64_t>(values.at(place.value))), true};
    return {mixed(mixed(3, array.number), place.value), false};
  }
  Index computed(const Node& node) {
    const auto a = index(*node.operands[0]), b = index(*node.operands[1]);
    const bool is_known = a.is_known && b.is_known;
    switch (node.kind) {
    case Kind::iadd:
      return {a.value + b.value, is_known};
    case Kind::isub:
      return {a.value - b.value, is_known};
    case Kind::imul:
      return {a.value * b.value, is_known};
    default:
      break;
    }
    if (!is_known) return {mixed(mixed(static_cast<std::uint64_t>(node.kind), a.value), b.value), false};
    if (node.kind == Kind::idiv) return {a.value / b.value, true};
    if (node.kind == Kind::ilt)
      return {std::uint64_t{static_cast<std::int64_t>(a.value) < static_cast<std::int64_t>(b.value)}, true};
    return {node.kind == Kind::imin ? std::min(a.value, b.value) : std::uint64_t{a.value == b.value}, true};
  }

  int vector_width_, lane_ = 0;
  std::int64_t most_, num_accesses_ = 0;
  std::unordered_map<std::string_view, Array> arrays_;
  std::unordered_map<std::uint64_t, std::int32_t> places_;
  std::vector<Variable> variables_; ///< the visible variables, innermost last
  std::vector<TraceEvent> events_;
};

} // namespace

std::vector<TraceEvent> access_trace(const LoopProgram& program, std::int64_t most) {
  return Tracer(program, most).result();
}

} // namespace rafter::schedule
