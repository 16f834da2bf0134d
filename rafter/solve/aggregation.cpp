// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/aggregation.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <rafter/base/parallel.hpp>
#include <rafter/solve/csr_products.hpp>

namespace rafter::solvers {
namespace {

constexpr std::int64_t most_aggregation_parts = 32, least_nodes = 256;

/// Calls visit(other node, s_ij) for all nodes that a node is coupled to with s_ij > 0. A node has so few neighbours
/// that they are searched in a list, which stays in the nearest cache as an array of all nodes would not.
class Couplings {
public:
  Couplings(const op::SparseMatrix& A, const Nodes& nodes) : A_(A), nodes_(nodes) {}

  template <class Visit> void visit(std::int32_t node, const Visit& visit) {
    others_.clear();
    sums_.clear();
    for (const auto unknown : nodes_.of(node)) {
      const auto component = nodes_.component[static_cast<std::size_t>(unknown)];
      if (component < 0) continue;
      next_ = 0;
      const auto entries = row_entries(A_, static_cast<std::size_t>(unknown));
      for (auto k = entries.begin; k < entries.end; ++k) {
        const auto column = static_cast<std::size_t>(A_.columns[k]);
        const auto other = nodes_.node[column];
        if (other < 0 || other == node || nodes_.component[column] != component || A_.values[k] == 0) continue;
        sums_[place(other)] -= A_.values[k];
      }
    }
    for (std::size_t i = 0; i < others_.size(); ++i)
      if (sums_[i] > 0) visit(others_[i], sums_[i]);
  }

private:
  /// The place of a node in the list. Rows of a node have their neighbours in the same order, as a rule.
  std::size_t place(std::int32_t other) {
    if (next_ == others_.size() || others_[next_] != other)
      next_ = static_cast<std::size_t>(std::ranges::find(others_, other) - others_.begin());
    if (next_ == others_.size()) {
      others_.push_back(other);
      sums_.push_back(0);
    }
    return next_++;
  }

  const op::SparseMatrix& A_;
  const Nodes& nodes_;
  std::vector<std::int32_t> others_; ///< neighbours of the node
  std::vector<double> sums_;         ///< shape of others_
  std::size_t next_ = 0;             ///< place behind the last one
};

/// The s_ij > 0 of some nodes.
struct CoupledNodes {
  std::vector<std::int32_t> counts;     ///< shape (node)
  std::vector<std::int32_t> neighbours; ///< neighbours of all nodes, one after the other
  std::vector<double> strengths;        ///< shape of neighbours
};

/// All couplings, part by part, and the m_i, shape (node), which are 0 where no entry is negative.
std::vector<CoupledNodes> find_couplings(const op::SparseMatrix& A, const Nodes& nodes, const base::Parts& parts,
                                         std::vector<double>& largest) {
  std::vector<CoupledNodes> result(static_cast<std::size_t>(parts.count()));
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = result[static_cast<std::size_t>(number)];
    const auto expected = static_cast<std::size_t>(A.num_entries() / nodes.count() * (end - begin));
    part.neighbours.reserve(expected);
    part.strengths.reserve(expected);
    Couplings couplings(A, nodes);
    for (auto node = begin; node < end; ++node) {
      const auto before = part.neighbours.size();
      double of_node = 0;
      couplings.visit(static_cast<std::int32_t>(node), [&](std::int32_t other, double strength) {
        of_node = std::max(of_node, strength);
        part.neighbours.push_back(other);
        part.strengths.push_back(strength);
      });
      largest[static_cast<std::size_t>(node)] = of_node;
      part.counts.push_back(static_cast<std::int32_t>(part.neighbours.size() - before));
    }
  });
  return result;
}

class Aggregator {
public:
  explicit Aggregator(const StrongConnections& connections)
      : connections_(connections), result_{.count = 0, .of_node = std::vector(connections.is_coupled.size(), none)} {}

  Aggregates run() {
    for (std::size_t node = 0; node < size(); ++node)
      if (is_open(node) && has_open_neighbourhood(node)) aggregate_around(node);
    join();
    for (std::size_t node = 0; node < size(); ++node)
      if (is_open(node)) aggregate_around(node);
    return std::move(result_);
  }

private:
  static constexpr std::int32_t none = -1;
  std::size_t size() const { return result_.of_node.size(); }
  bool is_open(std::size_t node) const { return connections_.is_coupled[node] != 0 && result_.of_node[node] == none; }
  std::span<const std::int32_t> neighbours(std::size_t node) const {
    const auto begin = connections_.offsets[node];
    return std::span(connections_.neighbours)
        .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(connections_.offsets[node + 1] - begin));
  }
  bool has_open_neighbourhood(std::size_t node) const {
    const auto of_node = neighbours(node);
    return !of_node.empty() &&
           std::ranges::all_of(of_node, [&](std::int32_t other) { return is_open(static_cast<std::size_t>(other)); });
  }
  void aggregate_around(std::size_t node) {
    result_.of_node[node] = result_.count;
    for (const auto other : neighbours(node))
      if (is_open(static_cast<std::size_t>(other))) result_.of_node[static_cast<std::size_t>(other)] = result_.count;
    ++result_.count;
  }
  /// Only aggregates that are there before grow, so that they stay balls.
  void join() {
    const auto before = result_.of_node;
    for (std::size_t node = 0; node < size(); ++node) {
      if (!is_open(node)) continue;
      float strongest = 0;
      const auto of_node = neighbours(node);
      for (std::size_t k = 0; k < of_node.size(); ++k) {
        const auto aggregate = before[static_cast<std::size_t>(of_node[k])];
        const float strength = connections_.strengths[static_cast<std::size_t>(connections_.offsets[node]) + k];
        if (aggregate == none || strength <= strongest) continue;
        strongest = strength;
        result_.of_node[node] = aggregate;
      }
    }
  }

  const StrongConnections& connections_;
  Aggregates result_;
};

} // namespace

Nodes make_nodes(std::int32_t count, std::vector<std::int32_t> node, std::vector<std::int32_t> component) {
  Nodes result{.offsets = std::vector<std::int32_t>(static_cast<std::size_t>(count) + 1, 0),
               .unknowns = {},
               .node = std::move(node),
               .component = std::move(component)};
  for (const auto of_unknown : result.node)
    if (of_unknown >= 0) ++result.offsets[static_cast<std::size_t>(of_unknown) + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.unknowns.resize(static_cast<std::size_t>(result.offsets.back()));
  auto next = result.offsets;
  for (std::size_t unknown = 0; unknown < result.node.size(); ++unknown)
    if (const auto of_unknown = result.node[unknown]; of_unknown >= 0)
      result.unknowns[static_cast<std::size_t>(next[static_cast<std::size_t>(of_unknown)]++)] =
          static_cast<std::int32_t>(unknown);
  return result;
}

StrongConnections find_strong_connections(const op::SparseMatrix& A, const Nodes& nodes, double threshold) {
  const base::Parts parts(nodes.count(), least_nodes, most_aggregation_parts);
  std::vector<double> largest(static_cast<std::size_t>(nodes.count()), 0.0);
  auto couplings = find_couplings(A, nodes, parts, largest);
  struct Part {
    std::vector<std::int32_t> counts, neighbours;
    std::vector<float> strengths;
  };
  std::vector<Part> found(static_cast<std::size_t>(parts.count()));
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = found[static_cast<std::size_t>(number)];
    const auto all = std::move(couplings[static_cast<std::size_t>(number)]);
    std::size_t next = 0;
    for (auto node = begin; node < end; ++node) {
      const auto before = part.neighbours.size();
      const auto last = next + static_cast<std::size_t>(all.counts[static_cast<std::size_t>(node - begin)]);
      for (; next < last; ++next) {
        const auto other = all.neighbours[next];
        const double mean =
            std::sqrt(largest[static_cast<std::size_t>(node)] * largest[static_cast<std::size_t>(other)]);
        if (!(mean > 0) || all.strengths[next] < threshold * mean) continue;
        part.neighbours.push_back(other);
        part.strengths.push_back(static_cast<float>(all.strengths[next] / mean));
      }
      part.counts.push_back(static_cast<std::int32_t>(part.neighbours.size() - before));
    }
  });
  StrongConnections result{.offsets = {0}, .neighbours = {}, .strengths = {}, .is_coupled = {}};
  for (const auto& part : found) {
    for (const auto count : part.counts) result.offsets.push_back(result.offsets.back() + count);
    result.neighbours.insert(result.neighbours.end(), part.neighbours.begin(), part.neighbours.end());
    result.strengths.insert(result.strengths.end(), part.strengths.begin(), part.strengths.end());
  }
  for (const double strength : largest) result.is_coupled.push_back(strength > 0 ? 1 : 0);
  return result;
}

Aggregates make_aggregates(const StrongConnections& connections) { return Aggregator(connections).run(); }

} // namespace rafter::solvers
