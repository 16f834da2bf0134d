// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <unordered_map>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::form {

/// Forward-mode derivative of nodes of a scalar graph, as nodes of the same graph. `leaf` gives the derivative of an
/// atom; spatial gradients and Gateaux derivatives differ only there. One object stands for one direction and remembers
/// what it has differentiated.
class Differentiator {
public:
  Differentiator(ScalarGraph& graph, std::function<NodeId(const Atom&)> leaf)
      : graph_(&graph), leaf_(std::move(leaf)) {}
  NodeId operator()(NodeId root);

private:
  NodeId of_node(NodeId id);
  NodeId of_quadratic_form(NodeId id);
  NodeId of_function(NodeId id, const ScalarNode& node, NodeId da);
  NodeId of_power(NodeId id, const ScalarNode& node);
  ScalarGraph* graph_;
  std::function<NodeId(const Atom&)> leaf_;
  std::unordered_map<NodeId, NodeId> memo_;
};

} // namespace rafter::form
