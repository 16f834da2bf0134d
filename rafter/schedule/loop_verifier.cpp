// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

namespace {

[[noreturn]] void fail(const std::string& what) { throw base::InternalError("loop program: " + what); }
/// Words are put together only where they are needed.
template <class... Words>
void require(bool condition, fmt::format_string<const Words&...> what, const Words&... words) {
  if (!condition) fail(fmt::format(what, words...));
}

bool is_integer(Kind kind) { return kind <= Kind::iload; }
bool is_real(Kind kind) { return kind >= Kind::number && kind <= Kind::operation; }

/// Names that are defined here; a block forgets at its end what it defined.
class Scope {
public:
  /// False when the name is there already.
  bool define(const std::string& name) {
    if (!names_.insert(name).second) return false;
    order_.push_back(name);
    return true;
  }
  bool contains(const std::string& name) const { return names_.contains(name); }
  std::size_t size() const { return order_.size(); }
  /// Back to the first `size` names.
  void shrink(std::size_t size) {
    for (; order_.size() > size; order_.pop_back()) names_.erase(order_.back());
  }

private:
  std::unordered_set<std::string_view> names_; ///< the program's own
  std::vector<std::string_view> order_;
};

class Verifier {
public:
  explicit Verifier(const LoopProgram& program) : program_(program) {
    for (const auto& buffer : program.buffers) buffers_.emplace(buffer.name, &buffer);
  }

  void run() {
    require(program_.vector_width >= 1 && program_.vector_width <= 64, "lanes out of range");
    require(program_.body != nullptr && program_.body->kind == Kind::block, "the body is a block");
    launch();
    std::set<std::string> names;
    for (const auto& buffer : program_.buffers) {
      require(names.insert(buffer.name).second, "buffer {} is declared twice", buffer.name);
      require(buffer.size > (buffer.space == Space::global ? -1 : 0), "buffer {} has no size", buffer.name);
      require(buffer.space != Space::constant || static_cast<std::int64_t>(buffer.values.size()) == buffer.size,
              "constant buffer {} needs one value per element", buffer.name);
      require(buffer.role != role::table || !buffer.values.empty(), "table {} has no values", buffer.name);
      require(!buffer.is_lane || buffer.size % program_.vector_width == 0, "lane buffer {} has a broken size",
              buffer.name);
    }
    static const std::string batch = "batch", last_batch = "last_batch";
    integers_.define(batch);
    integers_.define(last_batch);
    statement(program_.body);
  }

private:
  using Names = std::unordered_set<std::string_view>;

  void launch() const {
    const auto& items = program_.launch.items;
    for (const int extent : items)
      require(extent >= 1 && extent <= most_items, "a group has {} items along an axis; accepted are 1 to {}", extent,
              most_items);
    require(std::int64_t{items[0]} * items[1] * items[2] <= most_items, "a group has more than {} items", most_items);
    require(program_.launch.batches >= 0 && program_.launch.batches <= most_items,
            "a group takes {} batches; accepted are 1 to {}, or 0 for all", program_.launch.batches, most_items);
  }
  void statements(const NodePtr& block) {
    const auto num_integers = integers_.size(), num_reals = reals_.size();
    for (const auto& child : block->operands) {
      if (child->kind == Kind::let) {
        const bool is_vector = real(child->operands[0]);
        require(reals_.define(child->name), "register {} is defined twice", child->name);
        mark(lane_registers_, child->name, is_vector);
        register_types_[child->name] = child->operands[0]->type;
      } else if (child->kind == Kind::ilet) {
        expect_integer(child->operands[0]);
        require(integers_.define(child->name), "variable {} is defined twice", child->name);
        mark(lane_variables_, child->name, child->operands[0]->has_lane);
        mark(item_variables_, child->name, varies_with_item(*child->operands[0]));
      } else
        statement(child);
    }
    integers_.shrink(num_integers);
    reals_.shrink(num_reals);
  }
  void statement(const NodePtr& node) {
    switch (node->kind) {
    case Kind::block:
      statements(node);
      break;
    case Kind::loop:
      loop(node);
      break;
    case Kind::branch:
      expect_integer(node->operands[0]);
      require(!node->operands[0]->has_lane, "a condition varies with the lane");
      under(varies_with_item(*node->operands[0]), [&] {
        statement(node->operands[1]);
        statement(node->operands[2]);
      });
      break;
    case Kind::barrier:
      require(num_divergent_ == 0, "a barrier under a condition or in a loop that may differ between items");
      break;
    case Kind::store:
    case Kind::add:
      write(node);
      break;
    case Kind::prefetch:
      require(buffer(node->name).space == Space::global, "prefetch of {}, which is near", node->name);
      expect_integer(node->operands[0]);
      require(!node->operands[0]->has_lane, "a prefetch varies with the lane");
      break;
    default:
      fail("an expression stands where a statement is expected");
    }
  }

  void loop(const NodePtr& node) {
    expect_integer(node->operands[0]);
    require(!node->operands[0]->has_lane, "a loop count varies with the lane");
    require(node->style == LoopStyle::rolled || node->operands[0]->kind == Kind::integer,
            "a loop that is not rolled needs a literal count");
    if (node->style == LoopStyle::run) is_run(node->operands[0]->integer, *node->operands[1]);
    require(integers_.define(node->name), "variable {} is defined twice", node->name);
    mark(lane_variables_, node->name, false);
    const bool varies = varies_with_item(*node->operands[0]);
    mark(item_variables_, node->name, varies);
    under(varies, [&] { statement(node->operands[1]); });
    integers_.shrink(integers_.size() - 1);
  }
  void write(const NodePtr& node) {
    const auto& target = real_buffer(node->name);
    require(target.space == Space::work || target.space == Space::shared ||
                (target.space == Space::global && target.is_written),
            "write to read-only buffer {}", node->name);
    require(!node->is_atomic || target.space != Space::work, "an atomic addition to {}, which one item has alone",
            node->name);
    index(node->operands[0], target);
    if (node->is_streaming)
      require(target.space == Space::global && node->kind == Kind::store && node->operands.size() == 2 &&
                  is_whole_vector(*node->operands[0]),
              "a streaming store to {} is not one of a whole vector to a global buffer", node->name);
    const bool is_vector = real(node->operands[1]);
    require(node->operands[1]->type == target.type, "what is written to {} has another type", node->name);
    require(!is_vector || node->operands[0]->has_lane, "lanes of a value collide in {}", node->name);
    if (node->operands.size() > 2) {
      expect_integer(node->operands[2]);
      require(!node->operands[2]->has_lane, "an active count varies with the lane");
    }
  }

  /// Checks statements that items of a group come to or not, where `varies`.
  template <class Check> void under(bool varies, const Check& check) {
    num_divergent_ += varies ? 1 : 0;
    check();
    num_divergent_ -= varies ? 1 : 0;
  }
  /// Says whether the text leaves open that an integer differs between the items of a group. Buffers of integers are
  /// never written, so that loads from one place give one number.
  bool varies_with_item(const Node& node) const {
    if (node.kind == Kind::item) return program_.launch.items[static_cast<std::size_t>(node.integer)] > 1;
    if (node.kind == Kind::variable) return item_variables_.contains(node.name);
    return std::ranges::any_of(node.operands, [this](const NodePtr& operand) { return varies_with_item(*operand); });
  }

  /// Vectors of a run are turned into vectors of lanes by halves.
  void is_run(std::int64_t width, const Node& body) const {
    require(width >= 1 && width <= program_.vector_width && std::has_single_bit(static_cast<std::uint64_t>(width)),
            "a run of {} numbers, which is no power of two up to the lanes", width);
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
  const LoopBuffer& buffer(const std::string& name) const {
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) fail("unknown buffer " + name);
    return *found->second;
  }
  const LoopBuffer& buffer(const std::string& name, bool holds_reals) const {
    const LoopBuffer& found = buffer(name);
    require(schedule::is_real(found.type) == holds_reals, "buffer {} has another type", name);
    return found;
  }
  const LoopBuffer& real_buffer(const std::string& name) const { return buffer(name, true); }
  void index(const NodePtr& node, const LoopBuffer& target) const {
    expect_integer(node);
    if (node->kind == Kind::integer)
      require(node->integer >= 0 && (target.size == 0 || node->integer < target.size), "index {} leaves {}",
              node->integer, target.name);
  }
  void expect_integer(const NodePtr& node) const {
    require(is_integer(node->kind), "an integer expression is expected");
    require(node->kind != Kind::item || (node->integer >= 0 && node->integer < 3), "item of an unknown axis");
    if (node->kind == Kind::variable) {
      require(integers_.contains(node->name), "unknown variable {}", node->name);
      require(node->has_lane == lane_variables_.contains(node->name), "variable {} is marked wrongly for lanes",
              node->name);
    }
    if (node->kind == Kind::iload) {
      index(node->operands[0], buffer(node->name, false));
      return;
    }
    require(node->kind != Kind::idiv || (node->operands[1]->kind == Kind::integer && node->operands[1]->integer > 0),
            "a divisor is a positive literal");
    for (const auto& operand : node->operands) expect_integer(operand);
  }
  /// True when the value varies with the lane.
  bool real(const NodePtr& node) {
    require(is_real(node->kind), "a real expression is expected");
    bool is_vector = false;
    if (node->kind == Kind::reg) {
      require(reals_.contains(node->name), "unknown register {}", node->name);
      require(node->type == register_types_.at(node->name), "register {} has another type", node->name);
      is_vector = lane_registers_.contains(node->name);
    } else if (node->kind == Kind::load) {
      const auto& source = real_buffer(node->name);
      require(node->type == source.type, "what is loaded from {} has another type", node->name);
      index(node->operands[0], source);
      is_vector = node->operands[0]->has_lane;
    } else if (is_conversion(*node)) {
      const bool is_wider = node->kind == Kind::widen;
      is_vector = real(node->operands[0]);
      require(node->type == (is_wider ? Type::real : Type::real32) &&
                  node->operands[0]->type == (is_wider ? Type::real32 : Type::real),
              "{}", is_wider ? "a double is widened" : "a float is narrowed");
    } else if (node->kind == Kind::operation) {
      require(static_cast<int>(node->operands.size()) == form::info(node->op).arity && node->operands.size() > 0,
              "operation {} with {} operands", form::info(node->op).name, node->operands.size());
      for (const auto& operand : node->operands) {
        is_vector = real(operand) || is_vector;
        require(operand->type == node->type, "operation {} on numbers of different types", form::info(node->op).name);
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
  std::unordered_map<std::string_view, const LoopBuffer*> buffers_;
  Scope integers_, reals_;
  Names lane_variables_, lane_registers_;
  Names item_variables_;  ///< variables that may differ between the items of a group
  int num_divergent_ = 0; ///< enclosing statements that items may differ in
  std::unordered_map<std::string_view, Type> register_types_;
};

} // namespace

void verify(const LoopProgram& program) { Verifier(program).run(); }

} // namespace rafter::schedule
