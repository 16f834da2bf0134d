// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/reciprocals.hpp>

#include <algorithm>

namespace rafter::kernel {

using form::ScalarOp;

QFunction with_reciprocals(QFunction function) {
  auto& graph = function.graph;
  const auto order = graph.reachable(function.roots());
  std::unordered_map<NodeId, int> num_quotients; // number of quotients by each divisor
  for (const NodeId id : order)
    if (graph[id].op == ScalarOp::div) ++num_quotients[graph[id].operands[1]];
  const auto is_shared = [&](NodeId divisor) { return num_quotients.at(divisor) > 1; };
  if (std::ranges::none_of(num_quotients, [](const auto& entry) { return entry.second > 1; })) return function;
  std::unordered_map<NodeId, NodeId> written{{-1, -1}};
  for (const NodeId id : order) {
    const auto node = graph[id];
    const auto [a, b, c] = node.operands;
    if (form::info(node.op).arity == 0)
      written[id] = id;
    else if (node.op == ScalarOp::div && is_shared(b))
      written[id] = graph.mul(written.at(a), graph.div(graph.constant(1), written.at(b)));
    else
      written[id] = graph.make(node.op, written.at(a), written.at(b), written.at(c));
  }
  for (auto& output : function.outputs) output.node = written.at(output.node);
  return function;
}

} // namespace rafter::kernel
