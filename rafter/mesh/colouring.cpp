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

/// For each member, the sets that contain it, ascending.
Graph sets_of_members(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                      std::int32_t num_members) {
  Graph sets;
  sets.starts.assign(static_cast<std::size_t>(num_members) + 1, 0);
  std::vector<std::int32_t> last(num_members, -1);
  const auto num_sets = static_cast<std::int32_t>(starts.size()) - 1;
  auto for_each_distinct = [&](auto&& visit) {
    std::fill(last.begin(), last.end(), -1);
    for (std::int32_t set = 0; set < num_sets; ++set)
      for (auto i = starts[set]; i < starts[set + 1]; ++i)
        if (last[members[i]] != set) {
          last[members[i]] = set;
          visit(members[i], set);
        }
  };
  for_each_distinct([&](std::int32_t member, std::int32_t) { ++sets.starts[member + 1]; });
  std::partial_sum(sets.starts.begin(), sets.starts.end(), sets.starts.begin());
  sets.targets.resize(sets.starts.back());
  std::vector<std::int64_t> next(sets.starts.begin(), sets.starts.end() - 1);
  for_each_distinct([&](std::int32_t member, std::int32_t set) { sets.targets[next[member]++] = set; });
  return sets;
}

} // namespace

Graph intersection_graph(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                         std::int32_t num_members) {
  const Graph sets = sets_of_members(starts, members, num_members);
  const auto num_sets = static_cast<std::int32_t>(starts.size()) - 1;
  Graph graph;
  std::vector<std::int32_t> seen_by(num_sets, -1), visited_by(num_members, -1);
  for (std::int32_t set = 0; set < num_sets; ++set) {
    const auto begin = static_cast<std::ptrdiff_t>(graph.targets.size());
    seen_by[set] = set;
    for (auto i = starts[set]; i < starts[set + 1]; ++i) {
      if (visited_by[members[i]] == set) continue;
      visited_by[members[i]] = set;
      for (const auto other : sets.neighbours(members[i])) {
        if (seen_by[other] == set) continue;
        seen_by[other] = set;
        graph.targets.push_back(other);
      }
    }
    std::sort(graph.targets.begin() + begin, graph.targets.end());
    graph.starts.push_back(static_cast<std::int64_t>(graph.targets.size()));
  }
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
