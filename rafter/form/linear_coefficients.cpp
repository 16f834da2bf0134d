// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::form {

namespace {

using Terms = std::map<Atom, NodeId>; ///< coefficient of each argument; an empty map is the value 0

/// Finds the coefficients of the arguments in the nodes of an expression, operands before their users.
class LinearCoefficients {
public:
  LinearCoefficients(ScalarGraph& graph, const std::function<bool(const Atom&)>& is_argument)
      : graph_(graph), is_argument_(is_argument) {}

  /// Adds a node; false when it is not linear and homogeneous in the arguments that it contains.
  bool add(NodeId id) {
    const ScalarNode node = graph_[id];
    const bool has_arguments = std::ranges::any_of(
        node.operands, [this](const NodeId operand) { return operand >= 0 && terms_.at(operand).has_value(); });
    auto& result = terms_[id];
    if (node.op == ScalarOp::atom && is_argument_(node.atom)) result = Terms{{node.atom, graph_.constant(1)}};
    if (!has_arguments) return true;
    result = of_operation(node);
    return result.has_value();
  }
  /// The coefficients of a node that was added; nothing when it contains no arguments and is not zero.
  std::optional<Terms> of(NodeId id) const {
    const auto& terms = terms_.at(id);
    return !terms && graph_.is_constant(id, 0) ? Terms() : terms;
  }

private:
  /// The coefficients of an operation; nothing when it is not linear.
  std::optional<Terms> of_operation(const ScalarNode& node) {
    const auto [a, b, c] = node.operands;
    switch (node.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
      return merged(of(a), of(b), [&](NodeId x, NodeId y) { return graph_.make(node.op, x, y); });
    case ScalarOp::neg:
      return scaled(a, [&](NodeId x) { return graph_.neg(x); });
    case ScalarOp::mul: {
      if (terms_.at(a) && terms_.at(b)) return std::nullopt;
      const NodeId argument = terms_.at(a) ? a : b, factor = terms_.at(a) ? b : a;
      return scaled(argument, [&](NodeId x) { return graph_.mul(x, factor); });
    }
    case ScalarOp::div: {
      const NodeId divisor = b;
      if (terms_.at(divisor)) return std::nullopt;
      return scaled(a, [&](NodeId x) { return graph_.div(x, divisor); });
    }
    case ScalarOp::select: {
      const NodeId condition = a;
      if (terms_.at(condition)) return std::nullopt;
      return merged(of(b), of(c), [&](NodeId x, NodeId y) { return graph_.make(ScalarOp::select, condition, x, y); });
    }
    default:
      return std::nullopt;
    }
  }
  template <class Scale> Terms scaled(NodeId argument, const Scale& scale) const {
    Terms result = *terms_.at(argument);
    for (auto& [atom, coefficient] : result) coefficient = scale(coefficient);
    return result;
  }
  template <class Combine>
  std::optional<Terms> merged(const std::optional<Terms>& a, const std::optional<Terms>& b, const Combine& combine) {
    if (!a || !b) return std::nullopt;
    Terms result = *a;
    const NodeId zero = graph_.constant(0);
    for (auto& [atom, coefficient] : result) {
      const auto other = b->find(atom);
      coefficient = combine(coefficient, other == b->end() ? zero : other->second);
    }
    for (const auto& [atom, coefficient] : *b)
      if (!a->contains(atom)) result[atom] = combine(zero, coefficient);
    return result;
  }

  ScalarGraph& graph_;
  const std::function<bool(const Atom&)>& is_argument_;
  std::unordered_map<NodeId, std::optional<Terms>> terms_; ///< nothing for nodes without arguments
};

} // namespace

bool ScalarGraph::linear_coefficients(NodeId root, const std::function<bool(const Atom&)>& is_argument,
                                      std::map<Atom, NodeId>& coefficients, NodeId* offending) {
  LinearCoefficients linear(*this, is_argument);
  const auto fail = [offending](NodeId id) {
    if (offending != nullptr) *offending = id;
    return false;
  };
  const std::array roots{root};
  for (const NodeId id : reachable(roots))
    if (!linear.add(id)) return fail(id);
  auto terms = linear.of(root);
  if (!terms) return fail(root);
  coefficients = std::move(*terms);
  return true;
}

} // namespace rafter::form
