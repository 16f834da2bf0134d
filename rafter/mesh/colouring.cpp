// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/colouring.hpp>

#include <algorithm>
#include <numeric>

namespace rafter::mesh {

namespace {

constexpr int num_greedy_rounds = 60;
constexpr int num_balance_rounds = 4;

using Colours = std::vector<std::int32_t>;

std::int32_t num_colours(const Colours& colours) {
  return colours.empty() ? 0 : 1 + *std::max_element(colours.begin(), colours.end());
}

/// Colours the nodes in the given order, each with the lowest colour that no neighbour has.
Colours greedy(const Graph& graph, std::span<const std::int32_t> order) {
  Colours colours(graph.num_nodes(), -1);
  std::vector<std::int32_t> seen_by(graph.num_nodes() + 1, -1);
  for (const auto node : order) {
    for (const auto other : graph.neighbours(node))
      if (colours[other] >= 0) seen_by[colours[other]] = node;
    std::int32_t colour = 0;
    while (seen_by[colour] == node) ++colour;
    colours[node] = colour;
  }
  return colours;
}

/// Nodes sorted by colour, with colours by falling number (even rounds) or falling size (odd rounds). Greedy colouring
/// in such an order needs no more colours than before, since nodes of one colour may keep a common one.
std::vector<std::int32_t> order_of_round(const Colours& colours, int round) {
  std::vector<std::int32_t> size(num_colours(colours), 0);
  for (const auto colour : colours) ++size[colour];
  std::vector<std::int32_t> order(colours.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto ca = colours[a], cb = colours[b];
    if (round % 2 == 1 && size[ca] != size[cb]) return size[ca] > size[cb];
    return ca > cb;
  });
  return order;
}

/// Moves nodes from colours of large total weight to permitted ones of smaller weight.
void balance(const Graph& graph, std::span<const std::int32_t> weights, Colours& colours) {
  std::vector<std::int64_t> load(num_colours(colours), 0);
  for (std::size_t i = 0; i < colours.size(); ++i) load[colours[i]] += weights[i];
  std::vector<std::int32_t> seen_by(load.size(), -1);
  for (int round = 0; round < num_balance_rounds; ++round) {
    std::fill(seen_by.begin(), seen_by.end(), -1);
    for (std::int32_t node = 0; node < graph.num_nodes(); ++node) {
      for (const auto other : graph.neighbours(node)) seen_by[colours[other]] = node;
      auto best = colours[node];
      for (std::size_t c = 0; c < load.size(); ++c)
        if (seen_by[c] != node && load[c] + weights[node] < load[colours[node]] && load[c] < load[best])
          best = static_cast<std::int32_t>(c);
      load[colours[node]] -= weights[node];
      load[best] += weights[node];
      colours[node] = best;
    }
  }
}

} // namespace

void IntersectionGraph::take(std::size_t member) {
  if (last_[member] >= 0) {
    connect(last_[member]);
    for (auto i = earlier_[member]; i >= 0; i = links_[static_cast<std::size_t>(i)].next)
      connect(links_[static_cast<std::size_t>(i)].set);
    links_.push_back({last_[member], earlier_[member]});
    earlier_[member] = static_cast<std::int32_t>(links_.size()) - 1;
  }
  last_[member] = set_;
}

void IntersectionGraph::connect(std::int32_t other) {
  auto& seen_by = seen_by_[static_cast<std::size_t>(other)];
  if (seen_by == set_) return;
  seen_by = set_;
  edges_.emplace_back(set_, other);
}

Graph IntersectionGraph::finish() && {
  Graph graph;
  graph.starts.assign(seen_by_.size() + 1, 0);
  for (const auto& [one, other] : edges_) {
    ++graph.starts[static_cast<std::size_t>(one) + 1];
    ++graph.starts[static_cast<std::size_t>(other) + 1];
  }
  std::partial_sum(graph.starts.begin(), graph.starts.end(), graph.starts.begin());
  graph.targets.resize(static_cast<std::size_t>(graph.starts.back()));
  std::vector<std::int64_t> next(graph.starts.begin(), graph.starts.end() - 1);
  for (const auto& [one, other] : edges_) {
    graph.targets[static_cast<std::size_t>(next[static_cast<std::size_t>(one)]++)] = other;
    graph.targets[static_cast<std::size_t>(next[static_cast<std::size_t>(other)]++)] = one;
  }
  for (std::size_t node = 0; node + 1 < graph.starts.size(); ++node)
    std::sort(graph.targets.begin() + graph.starts[node], graph.targets.begin() + graph.starts[node + 1]);
  return graph;
}

std::vector<std::int32_t> coloured(const Graph& graph, std::span<const std::int32_t> weights) {
  std::vector<std::int32_t> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0);
  Colours colours = greedy(graph, order);
  for (int round = 0; round < num_greedy_rounds; ++round) colours = greedy(graph, order_of_round(colours, round));
  balance(graph, weights, colours);
  return colours;
}

} // namespace rafter::mesh
