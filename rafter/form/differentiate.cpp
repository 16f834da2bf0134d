// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/differentiate.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/form/quadratic_form.hpp>

namespace rafter::form {

NodeId Differentiator::operator()(NodeId root) {
  if (memo_.contains(root)) return memo_.at(root);
  // Nodes that are not differentiated yet are collected with an explicit stack, because graphs may be deep; ascending
  // numbers are an order of evaluation.
  std::vector<NodeId> pending{root};
  std::unordered_map<NodeId, char> is_seen{{root, 1}};
  for (std::size_t i = 0; i < pending.size(); ++i)
    for (const NodeId operand : (*graph_)[pending[i]].operands)
      if (operand >= 0 && !memo_.contains(operand) && is_seen.try_emplace(operand, 1).second)
        pending.push_back(operand);
  std::sort(pending.begin(), pending.end());
  for (const NodeId id : pending) {
    const NodeId result = of_node(id); // leaf_ may use other differentiators, never this one
    memo_[id] = result;
  }
  return memo_.at(root);
}

NodeId Differentiator::of_node(NodeId id) {
  auto& g = *graph_;
  const ScalarNode node = g[id]; // a copy, because the graph grows below
  const auto d = [&](std::size_t i) { return memo_.at(node.operands[i]); };
  // The products are made one after the other: numbers of nodes must not depend on the order in which a compiler
  // evaluates arguments.
  const auto sum_of_products = [&](ScalarOp op, std::array<NodeId, 2> left, std::array<NodeId, 2> right) {
    const NodeId second = g.mul(right[0], right[1]);
    return g.make(op, g.mul(left[0], left[1]), second);
  };
  const NodeId a = node.operands[0];
  const NodeId b = node.operands[1];
  switch (node.op) {
  case ScalarOp::constant:
    return g.constant(0);
  case ScalarOp::atom:
    return leaf_(node.atom);
  case ScalarOp::add:
    if (const NodeId result = of_quadratic_form(id); result >= 0) return result;
    return g.add(d(0), d(1));
  case ScalarOp::sub:
    if (const NodeId result = of_quadratic_form(id); result >= 0) return result;
    return g.sub(d(0), d(1));
  case ScalarOp::neg:
    return g.neg(d(0));
  case ScalarOp::mul:
    return sum_of_products(ScalarOp::add, {d(0), b}, {a, d(1)});
  case ScalarOp::div:
    // (a/b)' = (a' - (a/b) b') / b
    return g.div(g.sub(d(0), g.mul(id, d(1))), b);
  case ScalarOp::pow:
    return of_power(id, node);
  case ScalarOp::min:
    return g.make(ScalarOp::select, g.make(ScalarOp::lt, a, b), d(0), d(1));
  case ScalarOp::max:
    return g.make(ScalarOp::select, g.make(ScalarOp::lt, b, a), d(0), d(1));
  case ScalarOp::atan2: {
    const NodeId radius = sum_of_products(ScalarOp::add, {a, a}, {b, b});
    const NodeId numerator = sum_of_products(ScalarOp::sub, {b, d(0)}, {a, d(1)});
    return g.div(numerator, radius);
  }
  case ScalarOp::sign:
  case ScalarOp::lt:
  case ScalarOp::le:
  case ScalarOp::eq:
  case ScalarOp::ne:
  case ScalarOp::logical_and:
  case ScalarOp::logical_or:
  case ScalarOp::logical_not:
    return g.constant(0); // piecewise constant
  case ScalarOp::select:
    return g.make(ScalarOp::select, a, d(1), d(2));
  default:
    return of_function(id, node, d(0));
  }
}

/// Returns -1 where the sum is no quadratic form.
NodeId Differentiator::of_quadratic_form(NodeId id) {
  auto& g = *graph_;
  const auto is_constant = [&](NodeId node) { return g.is_constant(memo_.at(node), 0); };
  const auto form = find_quadratic_form(g, id, is_constant);
  if (!form) return -1;
  NodeId sum = g.constant(0);
  for (const auto& term : form->terms) {
    const NodeId derivative = g.mul(g.constant(term.weight), memo_.at(term.right)); // often 0.5 and 2 x
    sum = g.add(sum, g.mul(term.left, derivative));
  }
  return g.mul(g.constant(2), sum);
}

/// Chain rule for a function of one variable.
NodeId Differentiator::of_function(NodeId id, const ScalarNode& node, NodeId da) {
  auto& g = *graph_;
  const NodeId a = node.operands[0];
  const NodeId one = g.constant(1);
  if (g.is_constant(da, 0)) return da;
  switch (node.op) {
  case ScalarOp::sqrt:
    return g.div(da, g.mul(g.constant(2), id));
  case ScalarOp::exp:
    return g.mul(da, id);
  case ScalarOp::log:
    return g.div(da, a);
  case ScalarOp::sin:
    return g.mul(da, g.make(ScalarOp::cos, a));
  case ScalarOp::cos:
    return g.neg(g.mul(da, g.make(ScalarOp::sin, a)));
  case ScalarOp::tan:
    return g.mul(da, g.add(one, g.mul(id, id)));
  case ScalarOp::asin:
    return g.div(da, g.make(ScalarOp::sqrt, g.sub(one, g.mul(a, a))));
  case ScalarOp::acos:
    return g.neg(g.div(da, g.make(ScalarOp::sqrt, g.sub(one, g.mul(a, a)))));
  case ScalarOp::atan:
    return g.div(da, g.add(one, g.mul(a, a)));
  case ScalarOp::sinh:
    return g.mul(da, g.make(ScalarOp::cosh, a));
  case ScalarOp::cosh:
    return g.mul(da, g.make(ScalarOp::sinh, a));
  case ScalarOp::tanh:
    return g.mul(da, g.sub(one, g.mul(id, id)));
  case ScalarOp::abs:
    return g.mul(da, g.make(ScalarOp::sign, a));
  default:
    throw base::InternalError("derivative of an operation without a rule");
  }
}

NodeId Differentiator::of_power(NodeId id, const ScalarNode& node) {
  auto& g = *graph_;
  const NodeId a = node.operands[0];
  const NodeId b = node.operands[1];
  const NodeId da = memo_.at(a);
  const NodeId db = memo_.at(b);
  const NodeId by_base =
      g.is_constant(da, 0) ? da : g.mul(da, g.mul(b, g.make(ScalarOp::pow, a, g.sub(b, g.constant(1)))));
  if (g.is_constant(db, 0)) return by_base;
  return g.add(by_base, g.mul(db, g.mul(id, g.make(ScalarOp::log, a))));
}

} // namespace rafter::form
