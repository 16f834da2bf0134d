// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <utility>
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

/// Makes the graph whose nodes are sets of members (0 .. num_members-1), with an edge between two sets that share a
/// member. Sets are given one after the other; members that are added to a set again count once.
class IntersectionGraph {
public:
  explicit IntersectionGraph(std::int32_t num_members)
      : last_(static_cast<std::size_t>(num_members), -1), earlier_(static_cast<std::size_t>(num_members), -1) {}

  void begin_set() {
    ++set_;
    seen_by_.push_back(-1);
  }
  /// Adds a member to the set that was begun last.
  void add(std::int32_t member) {
    if (last_[static_cast<std::size_t>(member)] != set_) take(static_cast<std::size_t>(member));
  }
  Graph finish() &&;

private:
  struct Link {
    std::int32_t set, next; ///< next: number of a link, -1: none
  };
  void take(std::size_t member);
  void connect(std::int32_t other);

  std::int32_t set_ = -1;
  std::vector<std::int32_t> last_;    ///< the last set that has the member; -1: none
  std::vector<std::int32_t> earlier_; ///< the sets before that one, as a chain in links_; -1: none
  std::vector<Link> links_;
  std::vector<std::int32_t> seen_by_;                        ///< the last set with an edge to each set
  std::vector<std::pair<std::int32_t, std::int32_t>> edges_; ///< each once, the later set first
};

/// A colour for each node, different from those of its neighbours, shape (node). The nodes are coloured greedily in
/// their order; iterated greedy colouring (Culberson, Iterated Greedy Graph Coloring and the Difficulty Landscape,
/// 1992) then lowers the number of colours where it can; last, nodes move to permitted colours of less total weight.
/// The result is deterministic.
std::vector<std::int32_t> coloured(const Graph& graph, std::span<const std::int32_t> weights);

} // namespace rafter::mesh
