// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/min_cut.hpp>

#include <algorithm>
#include <unordered_map>

namespace rafter::kernel {

namespace {

/// A network with its flow; edges stand in pairs, each the reverse of the other.
class Network {
public:
  explicit Network(std::size_t num_vertices) : edges_of_(num_vertices) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    if (capacity <= 0) return;
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
    if (capacity < infinite) tolerance_ = std::max(tolerance_, 1e-12 * capacity);
  }

  /// The vertices on the source's side of the cut nearest to it.
  std::vector<char> source_side(std::size_t source, std::size_t sink) {
    while (find_levels(source, sink)) {
      next_.assign(edges_of_.size(), 0);
      while (push(source, sink, infinite) > tolerance_) {
      }
    }
    std::vector<char> is_on_side;
    for (const int level : levels_) is_on_side.push_back(level >= 0 ? 1 : 0);
    return is_on_side;
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  struct Edge {
    std::size_t to;
    double room;
  };

  bool find_levels(std::size_t source, std::size_t sink) {
    levels_.assign(edges_of_.size(), -1);
    levels_[source] = 0;
    std::vector<std::size_t> queue{source};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const auto e : edges_of_[queue[i]]) {
        const auto& edge = edges_[e];
        if (edge.room <= tolerance_ || levels_[edge.to] >= 0) continue;
        levels_[edge.to] = levels_[queue[i]] + 1;
        queue.push_back(edge.to);
      }
    return levels_[sink] >= 0;
  }

  /// Sends one path's worth of flow from `vertex` along ascending levels; how much. Paths are as short as DAGs are
  /// shallow.
  double push(std::size_t vertex, std::size_t sink, double most) {
    if (vertex == sink) return most;
    for (auto& i = next_[vertex]; i < edges_of_[vertex].size(); ++i) {
      const auto e = edges_of_[vertex][i];
      const auto to = edges_[e].to;
      if (edges_[e].room <= tolerance_ || levels_[to] != levels_[vertex] + 1) continue;
      const double sent = push(to, sink, std::min(most, edges_[e].room));
      if (sent <= tolerance_) continue;
      edges_[e].room -= sent;
      edges_[e ^ 1].room += sent;
      return sent;
    }
    return 0;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;
  std::vector<int> levels_;
  std::vector<std::size_t> next_;
  double tolerance_ = 0;
};

} // namespace

std::vector<form::NodeId> cheapest_fetches(const form::ScalarGraph& graph, std::span<const form::NodeId> needed,
                                           const std::function<Price(form::NodeId)>& price) {
  const auto nodes = graph.reachable(needed);
  std::unordered_map<form::NodeId, std::size_t> position;
  for (std::size_t i = 0; i < nodes.size(); ++i) position[nodes[i]] = i;
  // Of every node two vertices: on the source's side the first is "had" and the second "computed". A node that is had
  // and not computed is fetched; one that is computed has its operands.
  const std::size_t source = 2 * nodes.size(), sink = source + 1;
  constexpr double always = std::numeric_limits<double>::infinity();
  Network network(sink + 1);
  for (const auto id : needed) network.add(source, 2 * position.at(id), always);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [compute, fetch] = price(nodes[i]);
    network.add(2 * i, 2 * i + 1, fetch);
    network.add(2 * i + 1, sink, compute);
    for (const auto operand : graph[nodes[i]].operands)
      if (operand >= 0) network.add(2 * i + 1, 2 * position.at(operand), always);
  }
  const auto is_on_side = network.source_side(source, sink);
  std::vector<form::NodeId> fetched;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (is_on_side[2 * i] != 0 && is_on_side[2 * i + 1] == 0) fetched.push_back(nodes[i]);
  return fetched;
}

} // namespace rafter::kernel
