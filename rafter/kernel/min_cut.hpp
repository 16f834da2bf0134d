// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

/// Values of a DAG that are computed from their operands or had in another way, whichever costs least together.
namespace rafter::kernel {

/// Price of a node: of its own operation, given its operands; and of having its value without them.
struct Price {
  double compute = 0;
  double fetch = std::numeric_limits<double>::infinity();
};

/// The nodes to fetch, ascending, so that having `needed` costs least: all that they reach without passing a fetched
/// node is computed. Of equal totals the one that fetches nearest to `needed`. An exact minimum cut (project
/// selection; Picard, Management Science 22, 1976), found by augmenting flows (Dinic 1970). Prices are not negative,
/// those to compute finite.
std::vector<form::NodeId> cheapest_fetches(const form::ScalarGraph& graph, std::span<const form::NodeId> needed,
                                           const std::function<Price(form::NodeId)>& price);

} // namespace rafter::kernel
