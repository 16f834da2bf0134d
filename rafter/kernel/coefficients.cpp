// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/coefficients.hpp>

#include <array>

namespace rafter::kernel {

using form::AtomKind;
using form::NodeId;
using form::ScalarOp;

NodeId CoefficientGatherer::operator()(NodeId root) {
  if (gathering_ == Gathering::none) return root;
  for (const NodeId id : graph_.reachable(std::array{root}))
    if (!known_.contains(id)) known_[id] = made(id);
  return value_of(root);
}

CoefficientGatherer::Scaled CoefficientGatherer::made(NodeId id) {
  const auto node = graph_[id];
  if (node.op == ScalarOp::constant) return {id, -1};
  if (node.op == ScalarOp::atom) {
    const bool is_field = node.atom.kind == AtomKind::reference_field || node.atom.kind == AtomKind::reference_trial;
    return is_field ? Scaled{-1, id} : Scaled{id, -1};
  }
  const auto [a, b, c] = node.operands;
  bool has_field = false;
  for (const NodeId operand : node.operands) has_field = has_field || (operand >= 0 && known_.at(operand).core >= 0);
  if (!has_field) return {id, -1};
  switch (node.op) {
  case ScalarOp::neg:
    return {known_.at(a).coefficient, graph_.neg(known_.at(a).core)};
  case ScalarOp::add:
  case ScalarOp::sub:
    return sum(id);
  case ScalarOp::mul:
    return product(id);
  default: {
    const NodeId third = value_of(c), second = value_of(b), first = value_of(a);
    return {-1, graph_.make(node.op, first, second, third)};
  }
  }
}

CoefficientGatherer::Scaled CoefficientGatherer::sum(NodeId id) {
  const auto node = graph_[id];
  const auto &a = known_.at(node.operands[0]), &b = known_.at(node.operands[1]);
  if (a.core >= 0 && b.core >= 0 && a.coefficient == b.coefficient)
    return {a.coefficient, graph_.make(node.op, a.core, b.core)};
  const NodeId right = value(b), left = value(a);
  return {-1, graph_.make(node.op, left, right)};
}

CoefficientGatherer::Scaled CoefficientGatherer::product(NodeId id) {
  const auto node = graph_[id];
  const auto &a = known_.at(node.operands[0]), &b = known_.at(node.operands[1]);
  if (a.core < 0) return scaled(b, a.coefficient);
  if (b.core < 0) return scaled(a, b.coefficient);
  if (gathering_ != Gathering::products) {
    const NodeId right = value(b), left = value(a);
    return {-1, graph_.mul(left, right)};
  }
  const Scaled both{a.coefficient, graph_.mul(a.core, b.core)};
  return b.coefficient < 0 ? both : scaled(both, b.coefficient);
}

CoefficientGatherer::Scaled CoefficientGatherer::scaled(const Scaled& value, NodeId factor) {
  return {value.coefficient < 0 ? factor : graph_.mul(value.coefficient, factor), value.core};
}

NodeId CoefficientGatherer::value(const Scaled& value) {
  if (value.core < 0) return value.coefficient;
  return value.coefficient < 0 ? value.core : graph_.mul(value.coefficient, value.core);
}

} // namespace rafter::kernel
