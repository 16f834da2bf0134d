// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/min_cut.hpp>

#include <algorithm>
#include <limits>

namespace rafter::kernel {

namespace {

/// A flow network. Edges are stored in pairs, each the reverse of the other; the edges of a vertex form a linked list.
class Network {
public:
  explicit Network(std::size_t num_vertices)
      : first_(num_vertices, none), last_(num_vertices, none), levels_(num_vertices) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    if (capacity <= 0) return;
    append(from, {to, none, capacity});
    append(to, {from, none, 0});
    if (capacity < infinite) tolerance_ = std::max(tolerance_, 1e-12 * capacity);
  }

  /// The vertices that the source still reaches when the flow is a maximum: its side of the minimum cut nearest to it.
  std::vector<char> source_side(std::size_t source, std::size_t sink) {
    while (find_levels(source, sink)) {
      next_ = first_;
      while (push(source, sink) > tolerance_) {
      }
    }
    std::vector<char> is_on_side;
    for (const int level : levels_) is_on_side.push_back(level >= 0 ? 1 : 0);
    return is_on_side;
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  struct Edge {
    std::size_t to, next; ///< vertex at the end; next edge of the same vertex
    double room;
  };

  void append(std::size_t vertex, const Edge& edge) {
    (last_[vertex] == none ? first_[vertex] : edges_[last_[vertex]].next) = edges_.size();
    last_[vertex] = edges_.size();
    edges_.push_back(edge);
  }

  bool find_levels(std::size_t source, std::size_t sink) {
    levels_.assign(levels_.size(), -1);
    levels_[source] = 0;
    queue_.assign(1, source);
    for (std::size_t i = 0; i < queue_.size(); ++i)
      for (auto e = first_[queue_[i]]; e != none; e = edges_[e].next) {
        const auto& edge = edges_[e];
        if (edge.room <= tolerance_ || levels_[edge.to] >= 0) continue;
        levels_[edge.to] = levels_[queue_[i]] + 1;
        queue_.push_back(edge.to);
      }
    return levels_[sink] >= 0;
  }

  /// Sends as much flow as there is room for along one path from the source to the sink with ascending levels; returns
  /// the amount. Vertices from which there is no such path are not looked at again before the next levels.
  double push(std::size_t source, std::size_t sink) {
    path_.clear();
    for (std::size_t vertex = source; vertex != sink;) {
      auto& e = next_[vertex];
      while (e != none && (edges_[e].room <= tolerance_ || levels_[edges_[e].to] != levels_[vertex] + 1))
        e = edges_[e].next;
      if (e != none) {
        path_.push_back(e);
        vertex = edges_[e].to;
      } else if (path_.empty())
        return 0;
      else { // back to the vertex before, whose next edge is tried
        const auto last = path_.back();
        path_.pop_back();
        vertex = edges_[last ^ 1].to;
        next_[vertex] = edges_[last].next;
      }
    }
    double sent = infinite;
    for (const auto e : path_) sent = std::min(sent, edges_[e].room);
    for (const auto e : path_) {
      edges_[e].room -= sent;
      edges_[e ^ 1].room += sent;
    }
    return sent;
  }

  std::vector<Edge> edges_;
  std::vector<std::size_t> first_, last_, next_, queue_;
  std::vector<std::size_t> path_; ///< edges of the path that is being looked for
  std::vector<int> levels_;
  double tolerance_ = 0;
};

} // namespace

std::vector<form::NodeId> cheapest_fetches(const form::ScalarGraph& graph, std::span<const form::NodeId> needed,
                                           const std::function<Price(form::NodeId)>& price) {
  const auto nodes = graph.reachable(needed);
  // nodes are in ascending order
  std::vector<std::size_t> position(nodes.empty() ? 0 : static_cast<std::size_t>(nodes.back()) + 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) position[static_cast<std::size_t>(nodes[i])] = i;
  // Every node has two vertices. On the source's side of the cut, the first means "its value is had", the second "it is
  // computed". A node that is had but not computed is fetched; one that is computed must have its operands.
  const std::size_t source = 2 * nodes.size(), sink = source + 1;
  constexpr double always = std::numeric_limits<double>::infinity();
  Network network(sink + 1);
  for (const auto id : needed) network.add(source, 2 * position[static_cast<std::size_t>(id)], always);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto [compute, fetch] = price(nodes[i]);
    network.add(2 * i, 2 * i + 1, fetch);
    network.add(2 * i + 1, sink, compute);
    for (const auto operand : graph[nodes[i]].operands)
      if (operand >= 0) network.add(2 * i + 1, 2 * position[static_cast<std::size_t>(operand)], always);
  }
  const auto is_on_side = network.source_side(source, sink);
  std::vector<form::NodeId> fetched;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (is_on_side[2 * i] != 0 && is_on_side[2 * i + 1] == 0) fetched.push_back(nodes[i]);
  return fetched;
}

} // namespace rafter::kernel
