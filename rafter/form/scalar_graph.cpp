// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/scalar_graph.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::form {

namespace {

constexpr std::array op_table{ScalarOpInfo{"constant", 0, 0},
                              ScalarOpInfo{"atom", 0, 0},
                              ScalarOpInfo{"add", 2, 1},
                              ScalarOpInfo{"sub", 2, 1},
                              ScalarOpInfo{"mul", 2, 1},
                              ScalarOpInfo{"div", 2, 1, Effort::quotient},
                              ScalarOpInfo{"neg", 1, 0},
                              ScalarOpInfo{"pow", 2, 1, Effort::function},
                              ScalarOpInfo{"sqrt", 1, 1, Effort::quotient},
                              ScalarOpInfo{"exp", 1, 1, Effort::function},
                              ScalarOpInfo{"log", 1, 1, Effort::function},
                              ScalarOpInfo{"sin", 1, 1, Effort::function},
                              ScalarOpInfo{"cos", 1, 1, Effort::function},
                              ScalarOpInfo{"tan", 1, 1, Effort::function},
                              ScalarOpInfo{"asin", 1, 1, Effort::function},
                              ScalarOpInfo{"acos", 1, 1, Effort::function},
                              ScalarOpInfo{"atan", 1, 1, Effort::function},
                              ScalarOpInfo{"atan2", 2, 1, Effort::function},
                              ScalarOpInfo{"sinh", 1, 1, Effort::function},
                              ScalarOpInfo{"cosh", 1, 1, Effort::function},
                              ScalarOpInfo{"tanh", 1, 1, Effort::function},
                              ScalarOpInfo{"abs", 1, 0},
                              ScalarOpInfo{"sign", 1, 0},
                              ScalarOpInfo{"min", 2, 0},
                              ScalarOpInfo{"max", 2, 0},
                              ScalarOpInfo{"lt", 2, 0},
                              ScalarOpInfo{"le", 2, 0},
                              ScalarOpInfo{"eq", 2, 0},
                              ScalarOpInfo{"ne", 2, 0},
                              ScalarOpInfo{"and", 2, 0},
                              ScalarOpInfo{"or", 2, 0},
                              ScalarOpInfo{"not", 1, 0},
                              ScalarOpInfo{"select", 3, 0}};
static_assert(op_table.size() == static_cast<std::size_t>(ScalarOp::select) + 1);

bool is_commutative(ScalarOp op) {
  return op == ScalarOp::add || op == ScalarOp::mul || op == ScalarOp::min || op == ScalarOp::max ||
         op == ScalarOp::eq || op == ScalarOp::ne || op == ScalarOp::logical_and || op == ScalarOp::logical_or;
}

/// Says whether a number is a power of two, so that multiplying by it is exact.
bool is_power_of_two(double value) {
  int exponent = 0;
  return std::fabs(std::frexp(value, &exponent)) == 0.5;
}

std::size_t hash_of(const ScalarNode& node) {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) { // Boost's hash_combine, 64 bits
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 12U) + (hash >> 4U);
    hash *= 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  };
  mix(static_cast<std::uint64_t>(node.op) << 8U | static_cast<std::uint64_t>(node.atom.kind));
  for (const NodeId operand : node.operands) mix(static_cast<std::uint64_t>(operand));
  mix(std::bit_cast<std::uint64_t>(node.value));
  for (const int i : {node.atom.a, node.atom.b, node.atom.c}) mix(static_cast<std::uint64_t>(i));
  return hash;
}

/// Compares nodes to the bit, so that constants that are not numbers can be found, too.
bool is_same(const ScalarNode& a, const ScalarNode& b) {
  return a.op == b.op && a.operands == b.operands &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) && a.atom == b.atom;
}

} // namespace

const ScalarOpInfo& info(ScalarOp op) { return op_table[static_cast<std::size_t>(op)]; }

std::string to_string(const Atom& atom) {
  constexpr std::array names{
      "parameter",      "cell_coefficient", "x", "n",   "field", "test", "trial",        "reference_field",
      "reference_test", "reference_trial",  "J", "map", "X",     "N",    "stored_point", "stored_cell"};
  return fmt::format("{}[{},{},{}]", names[static_cast<std::size_t>(atom.kind)], atom.a, atom.b, atom.c);
}

double apply(ScalarOp op, double a, double b, double c) {
  switch (op) {
  case ScalarOp::add:
    return a + b;
  case ScalarOp::sub:
    return a - b;
  case ScalarOp::mul:
    return a * b;
  case ScalarOp::div:
    return a / b;
  case ScalarOp::neg:
    return -a;
  case ScalarOp::pow:
    return std::pow(a, b);
  case ScalarOp::sqrt:
    return std::sqrt(a);
  case ScalarOp::exp:
    return std::exp(a);
  case ScalarOp::log:
    return std::log(a);
  case ScalarOp::sin:
    return std::sin(a);
  case ScalarOp::cos:
    return std::cos(a);
  case ScalarOp::tan:
    return std::tan(a);
  case ScalarOp::asin:
    return std::asin(a);
  case ScalarOp::acos:
    return std::acos(a);
  case ScalarOp::atan:
    return std::atan(a);
  case ScalarOp::atan2:
    return std::atan2(a, b);
  case ScalarOp::sinh:
    return std::sinh(a);
  case ScalarOp::cosh:
    return std::cosh(a);
  case ScalarOp::tanh:
    return std::tanh(a);
  case ScalarOp::abs:
    return std::fabs(a);
  case ScalarOp::sign:
    return static_cast<double>((a > 0) - (a < 0));
  case ScalarOp::min:
    return a < b ? a : b;
  case ScalarOp::max:
    return a > b ? a : b;
  case ScalarOp::lt:
    return a < b;
  case ScalarOp::le:
    return a <= b;
  case ScalarOp::eq:
    return a == b;
  case ScalarOp::ne:
    return a != b;
  case ScalarOp::logical_and:
    return a != 0 && b != 0;
  case ScalarOp::logical_or:
    return a != 0 || b != 0;
  case ScalarOp::logical_not:
    return a == 0;
  case ScalarOp::select:
    return a != 0 ? b : c;
  case ScalarOp::constant:
  case ScalarOp::atom:
    break;
  }
  throw base::InternalError("apply: not an operation");
}

bool ScalarGraph::is_constant(NodeId id, double value) const {
  const auto& node = (*this)[id];
  return node.op == ScalarOp::constant && node.value == value;
}

void ScalarGraph::enlarge_index() {
  index_.assign(std::max<std::size_t>(64, 4 * nodes_.size()), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto slot = hash_of(nodes_[i]) % index_.size();
    while (index_[slot] >= 0) slot = (slot + 1) % index_.size();
    index_[slot] = static_cast<NodeId>(i);
  }
}

NodeId ScalarGraph::intern(ScalarNode node) {
  if (index_.size() < 2 * nodes_.size() + 2) enlarge_index();
  auto slot = hash_of(node) % index_.size();
  for (; index_[slot] >= 0; slot = (slot + 1) % index_.size())
    if (is_same((*this)[index_[slot]], node)) return index_[slot];
  index_[slot] = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(node);
  return index_[slot];
}

NodeId ScalarGraph::constant(double value) {
  ScalarNode node;
  node.value = value == 0 ? 0.0 : value; // -0.0 becomes 0.0
  return intern(node);
}

NodeId ScalarGraph::atom(const Atom& atom) {
  ScalarNode node;
  node.op = ScalarOp::atom;
  node.atom = atom;
  return intern(node);
}

/// Merges the constants in c * (d * x) = (c d) * x, as in 0.5 * (x + x), and in (2 x) * (0.5 y) = x * y, if one of them
/// is a power of two, so that nothing is rounded differently; -1 where neither form applies.
NodeId ScalarGraph::multiply_constants(NodeId a, NodeId b) {
  const auto constant_factor = [this](NodeId id) -> NodeId {
    if ((*this)[id].op != ScalarOp::mul) return -1;
    for (const NodeId operand : {(*this)[id].operands[0], (*this)[id].operands[1]})
      if ((*this)[operand].op == ScalarOp::constant) return operand;
    return -1;
  };
  const auto other_factor = [this](NodeId id, NodeId factor) {
    const auto& operands = (*this)[id].operands;
    return operands[0] == factor ? operands[1] : operands[0];
  };
  if ((*this)[b].op == ScalarOp::constant) std::swap(a, b);
  const NodeId of_a = (*this)[a].op == ScalarOp::constant ? a : constant_factor(a);
  const NodeId of_b = constant_factor(b);
  if (of_a < 0 || of_b < 0) return -1;
  const double c = (*this)[of_a].value;
  const double d = (*this)[of_b].value;
  if (!(is_power_of_two(c) || is_power_of_two(d)) || !std::isfinite(c * d)) return -1;
  if (of_a == a) return make(ScalarOp::mul, constant(c * d), other_factor(b, of_b));
  return c * d == 1 ? make(ScalarOp::mul, other_factor(a, of_a), other_factor(b, of_b)) : -1;
}

namespace {

/// An operation on numbers as users write it.
std::string written(ScalarOp op, double a, double b) {
  switch (op) {
  case ScalarOp::add:
    return fmt::format("{} + {}", a, b);
  case ScalarOp::sub:
    return fmt::format("{} - {}", a, b);
  case ScalarOp::mul:
    return fmt::format("{}*{}", a, b);
  case ScalarOp::div:
    return fmt::format("{}/{}", a, b);
  case ScalarOp::pow:
    return fmt::format("{}**{}", a, b);
  default:
    return info(op).arity == 1 ? fmt::format("{}({})", info(op).name, a)
                               : fmt::format("{}({}, {})", info(op).name, a, b);
  }
}

/// Value of an operation on constants. Throws InputError where it is not finite: the user wrote 1/0 or sqrt(-1).
double folded(ScalarOp op, double a, double b, double c) {
  const double value = rafter::form::apply(op, a, b, c);
  if (std::isfinite(value)) return value;
  throw base::InputError(info(op).arity == 3
                             ? "a conditional of constants is not a finite number"
                             : fmt::format("the constant {} is not a finite number", written(op, a, b)));
}

} // namespace

NodeId ScalarGraph::make(ScalarOp op, NodeId a, NodeId b, NodeId c) {
  const int arity = info(op).arity;
  const auto is_const = [this](NodeId id) { return id >= 0 && (*this)[id].op == ScalarOp::constant; };
  const auto is_neg = [this](NodeId id) { return (*this)[id].op == ScalarOp::neg; };
  if (is_const(a) && (arity < 2 || is_const(b)) && (arity < 3 || is_const(c)))
    return constant(
        folded(op, (*this)[a].value, arity > 1 ? (*this)[b].value : 0.0, arity > 2 ? (*this)[c].value : 0.0));
  switch (op) {
  case ScalarOp::add:
    if (is_constant(a, 0)) return b;
    if (is_constant(b, 0)) return a;
    if (is_neg(b)) return make(ScalarOp::sub, a, (*this)[b].operands[0]);
    if (is_neg(a)) return make(ScalarOp::sub, b, (*this)[a].operands[0]);
    if (a == b) return make(ScalarOp::mul, constant(2), a);
    break;
  case ScalarOp::sub:
    if (is_constant(b, 0)) return a;
    if (is_constant(a, 0)) return make(ScalarOp::neg, b);
    if (a == b) return constant(0);
    if (is_neg(b)) return make(ScalarOp::add, a, (*this)[b].operands[0]);
    break;
  case ScalarOp::mul:
    if (is_constant(a, 0) || is_constant(b, 0)) return constant(0);
    if (is_constant(a, 1)) return b;
    if (is_constant(b, 1)) return a;
    if (is_constant(a, -1)) return make(ScalarOp::neg, b);
    if (is_constant(b, -1)) return make(ScalarOp::neg, a);
    if (is_neg(a) && is_neg(b)) return make(ScalarOp::mul, (*this)[a].operands[0], (*this)[b].operands[0]);
    if (is_neg(a)) return make(ScalarOp::neg, make(ScalarOp::mul, (*this)[a].operands[0], b));
    if (is_neg(b)) return make(ScalarOp::neg, make(ScalarOp::mul, a, (*this)[b].operands[0]));
    if (const NodeId gathered = multiply_constants(a, b); gathered >= 0) return gathered;
    break;
  case ScalarOp::div:
    if (is_constant(a, 0)) return a;
    if (is_constant(b, 1)) return a;
    // Division by a power of two is an exact product; division by other constants stays, because a product would round
    // differently.
    if (is_const(b)) {
      const double inverse = 1 / (*this)[b].value;
      if (is_power_of_two((*this)[b].value) && std::isfinite(inverse)) return make(ScalarOp::mul, a, constant(inverse));
    }
    break;
  case ScalarOp::neg:
    if (is_neg(a)) return (*this)[a].operands[0];
    if ((*this)[a].op == ScalarOp::sub) return make(ScalarOp::sub, (*this)[a].operands[1], (*this)[a].operands[0]);
    break;
  case ScalarOp::pow:
    if (is_constant(b, 0)) return constant(1);
    if (is_constant(b, 1)) return a;
    if (is_constant(b, 0.5)) return make(ScalarOp::sqrt, a);
    // Small integer powers become products: their sign is exact, and a kernel needs no call.
    if (is_const(b)) {
      const double exponent = (*this)[b].value;
      if (exponent == std::floor(exponent) && std::fabs(exponent) <= 16) {
        NodeId power = -1;
        NodeId square = a;
        for (int n = static_cast<int>(std::fabs(exponent)); n > 0; n /= 2) {
          if (n % 2 == 1) power = power < 0 ? square : make(ScalarOp::mul, power, square);
          if (n > 1) square = make(ScalarOp::mul, square, square);
        }
        return exponent < 0 ? make(ScalarOp::div, constant(1), power) : power;
      }
    }
    break;
  case ScalarOp::select:
    if (is_const(a)) return (*this)[a].value != 0 ? b : c;
    if (b == c) return b;
    break;
  default:
    break;
  }
  if (is_commutative(op) && b < a) std::swap(a, b);
  ScalarNode node;
  node.op = op;
  node.operands = {a, arity > 1 ? b : -1, arity > 2 ? c : -1};
  return intern(node);
}

NodeId ScalarGraph::import(const ScalarGraph& source, NodeId root, std::unordered_map<NodeId, NodeId>& memo,
                           const std::function<NodeId(const Atom&)>& leaf) {
  const std::array roots{root};
  for (const NodeId id : source.reachable(roots)) {
    if (memo.contains(id)) continue;
    const ScalarNode node = source[id];
    NodeId result = -1;
    if (node.op == ScalarOp::constant)
      result = constant(node.value);
    else if (node.op == ScalarOp::atom) {
      result = leaf(node.atom);
      if (result < 0) result = atom(node.atom);
    } else {
      std::array<NodeId, 3> operands{-1, -1, -1};
      for (std::size_t i = 0; i < 3; ++i)
        if (node.operands[i] >= 0) operands[i] = memo.at(node.operands[i]);
      result = make(node.op, operands[0], operands[1], operands[2]);
    }
    memo[id] = result;
  }
  return memo.at(root);
}

std::vector<NodeId> ScalarGraph::reachable(std::span<const NodeId> roots) const {
  std::vector<char> is_reached(nodes_.size(), 0);
  for (const NodeId root : roots) is_reached[static_cast<std::size_t>(root)] = 1;
  for (std::size_t i = nodes_.size(); i-- > 0;)
    if (is_reached[i])
      for (const NodeId operand : nodes_[i].operands)
        if (operand >= 0) is_reached[static_cast<std::size_t>(operand)] = 1;
  std::vector<NodeId> order;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (is_reached[i]) order.push_back(static_cast<NodeId>(i));
  return order;
}

std::vector<double> ScalarGraph::evaluate(std::span<const NodeId> roots,
                                          const std::function<double(const Atom&)>& atom_value) const {
  std::vector<double> values(nodes_.size(), 0.0);
  for (const NodeId id : reachable(roots)) {
    const auto& node = (*this)[id];
    const auto operand = [&](std::size_t i) {
      return node.operands[i] >= 0 ? values[static_cast<std::size_t>(node.operands[i])] : 0.0;
    };
    auto& value = values[static_cast<std::size_t>(id)];
    if (node.op == ScalarOp::constant)
      value = node.value;
    else if (node.op == ScalarOp::atom)
      value = atom_value(node.atom);
    else
      value = rafter::form::apply(node.op, operand(0), operand(1), operand(2));
  }
  std::vector<double> result;
  for (const NodeId root : roots) result.push_back(values[static_cast<std::size_t>(root)]);
  return result;
}

} // namespace rafter::form
