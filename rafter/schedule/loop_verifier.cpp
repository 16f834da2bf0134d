// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

namespace {

[[noreturn]] void fail(const std::string& what) { throw base::InternalError("loop program: " + what); }
void require(bool condition, const std::string& what) {
  if (!condition) fail(what);
}

bool is_integer(Kind kind) { return kind <= Kind::iload; }
bool is_real(Kind kind) { return kind >= Kind::number && kind <= Kind::operation; }

class Verifier {
public:
  explicit Verifier(const LoopProgram& program) : program_(program) {}

  void run() {
    require(program_.lanes >= 1 && program_.lanes <= 64, "lanes out of range");
    require(program_.body != nullptr && program_.body->kind == Kind::block, "the body is a block");
    std::set<std::string> names;
    for (const auto& buffer : program_.buffers) {
      require(names.insert(buffer.name).second, "buffer " + buffer.name + " is declared twice");
      require(buffer.size > (buffer.space == Space::global ? -1 : 0), "buffer " + buffer.name + " has no size");
      require(buffer.space != Space::constant || static_cast<std::int64_t>(buffer.values.size()) == buffer.size,
              "constant buffer " + buffer.name + " needs one value per element");
      require(buffer.role != Role::table || !buffer.values.empty(), "table " + buffer.name + " has no values");
      require(!buffer.is_lane || buffer.size % program_.lanes == 0,
              "lane buffer " + buffer.name + " has a broken size");
    }
    statement(program_.body, {"batch", "last_batch"}, {});
  }

private:
  using Names = std::set<std::string>;

  /// A block works on its own copy of the names: what it defines ends with it.
  void statements(const NodePtr& block, Names integers, Names reals) {
    for (const auto& child : block->operands) {
      if (child->kind == Kind::let) {
        const bool is_vector = real(child->operands[0], integers, reals);
        require(reals.insert(child->name).second, "register " + child->name + " is defined twice");
        mark(lane_registers_, child->name, is_vector);
        register_types_[child->name] = child->operands[0]->type;
      } else if (child->kind == Kind::ilet) {
        expect_integer(child->operands[0], integers);
        require(integers.insert(child->name).second, "variable " + child->name + " is defined twice");
        mark(lane_variables_, child->name, child->operands[0]->has_lane);
      } else
        statement(child, integers, reals);
    }
  }
  void statement(const NodePtr& node, const Names& integers, const Names& reals) {
    switch (node->kind) {
    case Kind::block:
      statements(node, integers, reals);
      break;
    case Kind::loop: {
      expect_integer(node->operands[0], integers);
      require(!node->operands[0]->has_lane, "a loop count varies with the lane");
      require(node->style == LoopStyle::rolled || node->operands[0]->kind == Kind::integer,
              "a loop that is not rolled needs a literal count");
      if (node->style == LoopStyle::run) is_run(node->operands[0]->integer, *node->operands[1]);
      Names inside = integers;
      require(inside.insert(node->name).second, "variable " + node->name + " is defined twice");
      mark(lane_variables_, node->name, false);
      statement(node->operands[1], inside, reals);
      break;
    }
    case Kind::branch:
      expect_integer(node->operands[0], integers);
      require(!node->operands[0]->has_lane, "a condition varies with the lane");
      statement(node->operands[1], integers, reals);
      statement(node->operands[2], integers, reals);
      break;
    case Kind::store:
    case Kind::add: {
      const auto& target = real_buffer(node->name);
      require(target.space == Space::work || (target.space == Space::global && target.is_written),
              "write to read-only buffer " + node->name);
      index(node->operands[0], target, integers);
      if (node->is_streaming)
        require(target.space == Space::global && node->kind == Kind::store && node->operands.size() == 2 &&
                    is_whole_vector(*node->operands[0]),
                "a streaming store to " + node->name + " is not one of a whole vector to a global buffer");
      const bool is_vector = real(node->operands[1], integers, reals);
      require(node->operands[1]->type == target.type, "what is written to " + node->name + " has another type");
      require(!is_vector || node->operands[0]->has_lane, "lanes of a value collide in " + node->name);
      if (node->operands.size() > 2) {
        expect_integer(node->operands[2], integers);
        require(!node->operands[2]->has_lane, "an active count varies with the lane");
      }
      break;
    }
    case Kind::prefetch:
      require(buffer(node->name).space == Space::global, "prefetch of " + node->name + ", which is near");
      expect_integer(node->operands[0], integers);
      require(!node->operands[0]->has_lane, "a prefetch varies with the lane");
      break;
    default:
      fail("an expression stands where a statement is expected");
    }
  }

  /// Vectors of a run are turned into vectors of lanes by halves.
  void is_run(std::int64_t width, const Node& body) const {
    require(width >= 1 && width <= program_.lanes && std::has_single_bit(static_cast<std::uint64_t>(width)),
            fmt::format("a run of {} numbers, which is no power of two up to the lanes", width));
    require(body.operands.size() == 1 &&
                (body.operands[0]->kind == Kind::store || body.operands[0]->kind == Kind::add) &&
                body.operands[0]->operands.size() == 2 && is_moved(*body.operands[0]->operands[1]),
            "a run is moved by one statement");
  }
  static bool is_conversion(const Node& value) { return value.kind == Kind::widen || value.kind == Kind::narrow; }
  static bool is_moved(const Node& value) {
    return (is_conversion(value) ? *value.operands[0] : value).kind == Kind::load;
  }

  /// x + lane.
  static bool is_whole_vector(const Node& index) {
    return index.kind == Kind::iadd && !index.operands[0]->has_lane && index.operands[1]->kind == Kind::lane;
  }
  const Buffer& buffer(const std::string& name) const {
    const Buffer* found = program_.find(name);
    require(found != nullptr, "unknown buffer " + name);
    return *found;
  }
  const Buffer& buffer(const std::string& name, bool holds_reals) const {
    const Buffer& found = buffer(name);
    require(schedule::is_real(found.type) == holds_reals, "buffer " + name + " has another type");
    return found;
  }
  const Buffer& real_buffer(const std::string& name) const { return buffer(name, true); }
  void index(const NodePtr& node, const Buffer& target, const Names& integers) const {
    expect_integer(node, integers);
    if (node->kind == Kind::integer)
      require(node->integer >= 0 && (target.size == 0 || node->integer < target.size),
              fmt::format("index {} leaves {}", node->integer, target.name));
  }
  void expect_integer(const NodePtr& node, const Names& integers) const {
    require(is_integer(node->kind), "an integer expression is expected");
    if (node->kind == Kind::variable) {
      require(integers.contains(node->name), "unknown variable " + node->name);
      require(node->has_lane == lane_variables_.contains(node->name),
              "variable " + node->name + " is marked wrongly for lanes");
    }
    if (node->kind == Kind::iload) {
      index(node->operands[0], buffer(node->name, false), integers);
      return;
    }
    require(node->kind != Kind::idiv || (node->operands[1]->kind == Kind::integer && node->operands[1]->integer > 0),
            "a divisor is a positive literal");
    for (const auto& operand : node->operands) expect_integer(operand, integers);
  }
  /// True when the value varies with the lane.
  bool real(const NodePtr& node, const Names& integers, const Names& reals) {
    require(is_real(node->kind), "a real expression is expected");
    bool is_vector = false;
    if (node->kind == Kind::reg) {
      require(reals.contains(node->name), "unknown register " + node->name);
      require(node->type == register_types_.at(node->name), "register " + node->name + " has another type");
      is_vector = lane_registers_.contains(node->name);
    } else if (node->kind == Kind::load) {
      const auto& source = real_buffer(node->name);
      require(node->type == source.type, "what is loaded from " + node->name + " has another type");
      index(node->operands[0], source, integers);
      is_vector = node->operands[0]->has_lane;
    } else if (is_conversion(*node)) {
      const bool is_wider = node->kind == Kind::widen;
      is_vector = real(node->operands[0], integers, reals);
      require(node->type == (is_wider ? Type::real : Type::real32) &&
                  node->operands[0]->type == (is_wider ? Type::real32 : Type::real),
              is_wider ? "a double is widened" : "a float is narrowed");
    } else if (node->kind == Kind::operation) {
      require(static_cast<int>(node->operands.size()) == form::info(node->op).arity && node->operands.size() > 0,
              fmt::format("operation {} with {} operands", form::info(node->op).name, node->operands.size()));
      for (const auto& operand : node->operands) {
        is_vector = real(operand, integers, reals) || is_vector;
        require(operand->type == node->type,
                fmt::format("operation {} on numbers of different types", form::info(node->op).name));
      }
    }
    return is_vector;
  }

  /// The latest definition counts: names may come again in later blocks, with or without lanes.
  static void mark(Names& names, const std::string& name, bool is_member) {
    if (is_member)
      names.insert(name);
    else
      names.erase(name);
  }

  const LoopProgram& program_;
  Names lane_variables_, lane_registers_;
  std::map<std::string, Type> register_types_;
};

} // namespace

void verify(const LoopProgram& program) { Verifier(program).run(); }

} // namespace rafter::schedule
