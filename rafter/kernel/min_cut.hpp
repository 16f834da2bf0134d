// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

/// Chooses which values of an expression graph are computed from their operands and which are fetched (read, or made in
/// another way), so that the total price is least.
namespace rafter::kernel {

/// Price of a node: of its own operation when its operands are there, and of having its value without them.
struct Price {
  double compute = 0;
  double fetch = std::numeric_limits<double>::infinity();
};

/// The nodes to fetch, ascending, so that having all of `needed` costs least; what they depend on, up to fetched nodes,
/// is computed. Of solutions with equal totals, the one that fetches nearest to `needed`. It is an exact minimum cut
/// (project selection; Picard, Management Science 22, 1976), found by augmenting flows (Dinic 1970). Prices must not be
/// negative, and prices of computing must be finite.
std::vector<form::NodeId> cheapest_fetches(const form::ScalarGraph& graph, std::span<const form::NodeId> needed,
                                           const std::function<Price(form::NodeId)>& price);

} // namespace rafter::kernel
