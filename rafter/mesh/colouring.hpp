// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rafter::mesh {

/// An undirected graph; the neighbours of node i are targets[starts[i]] .. targets[starts[i+1]-1], ascending.
struct Graph {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> targets;
  std::int32_t num_nodes() const { return static_cast<std::int32_t>(starts.size()) - 1; }
  std::span<const std::int32_t> neighbours(std::int32_t node) const {
    return std::span(targets).subspan(starts[node], starts[node + 1] - starts[node]);
  }
};

/// The graph whose nodes are sets of members (0 .. num_members-1), with an edge between two sets that share a member.
/// Set i is members[starts[i]] .. members[starts[i+1]-1]; repeated members count once.
Graph intersection_graph(std::span<const std::int64_t> starts, std::span<const std::int32_t> members,
                         std::int32_t num_members);

/// A colour for each node, different from those of its neighbours, shape (node). The nodes are coloured greedily in
/// their order; iterated greedy colouring (Culberson, Iterated Greedy Graph Coloring and the Difficulty Landscape,
/// 1992) then lowers the number of colours where it can; last, nodes move to permitted colours of less total weight.
/// The result is deterministic.
std::vector<std::int32_t> coloured(const Graph& graph, std::span<const std::int32_t> weights);

} // namespace rafter::mesh
