// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/hoisting.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <rafter/kernel/min_cut.hpp>

namespace rafter::kernel {

namespace {

using form::ScalarGraph;
using form::ScalarOp;

using Polynomial = std::vector<NodeId>; ///< coefficients, lowest degree first; at least one
constexpr std::size_t max_coefficients = 7;

/// Writes the nodes of a graph as polynomials in one reference coordinate.
class Polynomials {
public:
  Polynomials(ScalarGraph& graph, int axis)
      : graph_(graph), coordinate_(graph.atom({AtomKind::reference_coordinate, axis, 0, 0})) {}

  NodeId coordinate() const { return coordinate_; }

  /// The polynomial of a node, whose operands must have been asked for before; nothing when the node is no polynomial
  /// with at most max_coefficients coefficients. `varies` says whether the node depends on the coordinate.
  const std::optional<Polynomial>& find(NodeId id, bool varies) {
    const auto [place, is_new] = known_.try_emplace(id);
    if (is_new) place->second = varies ? made(id) : Polynomial{id};
    return place->second;
  }

  NodeId horner(const Polynomial& p) {
    NodeId value = p.back();
    for (std::size_t i = p.size() - 1; i-- > 0;) value = graph_.add(p[i], graph_.mul(coordinate_, value));
    return value;
  }

private:
  std::optional<Polynomial> made(NodeId id) {
    const auto node = graph_[id];
    if (id == coordinate_) return Polynomial{graph_.constant(0), graph_.constant(1)};
    if (node.op != ScalarOp::add && node.op != ScalarOp::sub && node.op != ScalarOp::mul && node.op != ScalarOp::neg)
      return std::nullopt;
    const auto& a = known_.at(node.operands[0]);
    if (!a) return std::nullopt;
    if (node.op == ScalarOp::neg) {
      Polynomial result;
      for (const NodeId coefficient : *a) result.push_back(graph_.neg(coefficient));
      return result;
    }
    const auto& b = known_.at(node.operands[1]);
    if (!b) return std::nullopt;
    return node.op == ScalarOp::mul ? product(*a, *b) : combined(node.op, *a, *b);
  }
  Polynomial combined(ScalarOp op, const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    const NodeId zero = graph_.constant(0);
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      result.push_back(graph_.make(op, i < a.size() ? a[i] : zero, i < b.size() ? b[i] : zero));
    return trimmed(std::move(result));
  }
  std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
    if (a.size() + b.size() - 1 > max_coefficients) return std::nullopt;
    Polynomial result(a.size() + b.size() - 1, graph_.constant(0));
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) result[i + j] = graph_.add(result[i + j], graph_.mul(a[i], b[j]));
    return trimmed(std::move(result));
  }
  Polynomial trimmed(Polynomial p) const {
    while (p.size() > 1 && graph_.is_constant(p.back(), 0)) p.pop_back();
    return p;
  }

  ScalarGraph& graph_;
  NodeId coordinate_;
  std::unordered_map<NodeId, std::optional<Polynomial>> known_;
};

/// Hoisting out of the loop over one axis: the nodes that this loop computes, and the cost of writing them as
/// polynomials.
class AxisHoisting {
public:
  AxisHoisting(const QFunction& function, int axis, const PointLoops& loops)
      : result_(function), axis_(axis), loops_(loops), polynomials_(result_.graph, axis),
        order_(function.graph.reachable(function.roots())), dependencies_(dependencies(function)) {
    find_needed();
    if (needed_.empty()) return;
    for (const NodeId id : order_)
      if (is_of_grid(id)) values_[id] = polynomials_.find(id, is_inside(id));
    all_dependencies_ = dependencies(result_);
    seen_.resize(all_dependencies_.size(), 0);
    for (const NodeId id : order_) seen_[static_cast<std::size_t>(id)] = -1;
  }

  /// True if the loop computes nothing that could be a polynomial.
  bool is_empty() const { return needed_.empty(); }

  /// The function with those nodes as polynomials that make it cheapest. Each polynomial is charged `share` of the
  /// operations on its new coefficients, since other polynomials may use them, too.
  QFunction rewritten(double share) {
    const auto fetched = cheapest_fetches(result_.graph, needed_, [&](NodeId id) { return price(id, share); });
    std::unordered_map<NodeId, NodeId> to;
    QFunction rewritten = result_;
    Polynomials writer(rewritten.graph, axis_);
    for (const NodeId id : fetched) to[id] = writer.horner(*values_.at(id));
    const auto mapped = [&](NodeId id) {
      const auto found = to.find(id);
      return found == to.end() ? id : found->second;
    };
    for (const NodeId id : order_) {
      const auto node = rewritten.graph[id];
      if (to.contains(id) || form::info(node.op).arity == 0) continue;
      const auto [a, b, c] = node.operands;
      to[id] = rewritten.graph.make(node.op, mapped(a), b < 0 ? b : mapped(b), c < 0 ? c : mapped(c));
    }
    for (auto& output : rewritten.outputs) output.node = mapped(output.node);
    return rewritten;
  }

private:
  unsigned set_of(NodeId id) const { return dependencies_[static_cast<std::size_t>(id)]; }
  unsigned own_axis() const { return on_axis_0 << axis_; }
  /// True for a node that depends on the cell, this axis and outer axes alone, so that it is computed in the loop over
  /// this axis or outside.
  bool is_of_grid(NodeId id) const { return (set_of(id) & (on_field | on_point | (own_axis() - on_axis_0))) == 0; }
  bool is_inside(NodeId id) const { return is_of_grid(id) && (set_of(id) & own_axis()) != 0; }

  void find_needed() {
    const auto need = [this](NodeId id) {
      if (is_inside(id)) needed_.push_back(id);
    };
    for (const NodeId root : result_.roots()) need(root);
    for (const NodeId id : order_)
      if (!is_inside(id))
        for (const NodeId operand : result_.graph[id].operands)
          if (operand >= 0) need(operand);
    std::ranges::sort(needed_);
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  }

  Price price(NodeId id, double share) {
    if (!is_inside(id)) return {};
    Price result{.compute = static_cast<double>(form::info(result_.graph[id].op).flops)};
    const auto& polynomial = values_.at(id);
    if (polynomial && form::info(result_.graph[id].op).arity > 0)
      result.fetch = 2.0 * static_cast<double>(polynomial->size() - 1) + share * coefficient_flops(*polynomial);
    return result;
  }
  /// Operations on coefficients that the function does not compute anyway, per evaluation of the polynomial.
  double coefficient_flops(const Polynomial& polynomial) {
    const auto own = loops_.evaluations(own_axis());
    double flops = 0;
    ++num_searches_;
    open_ = polynomial;
    while (!open_.empty()) {
      const auto id = open_.back();
      const auto at = static_cast<std::size_t>(id);
      open_.pop_back();
      if (seen_[at] < 0 || seen_[at] == num_searches_) continue;
      seen_[at] = num_searches_;
      flops += form::info(result_.graph[id].op).flops * loops_.evaluations(all_dependencies_[at]) / own;
      for (const NodeId operand : result_.graph[id].operands)
        if (operand >= 0) open_.push_back(operand);
    }
    return flops;
  }

  QFunction result_;
  int axis_;
  const PointLoops& loops_;
  Polynomials polynomials_;
  std::vector<NodeId> order_;
  std::vector<unsigned> dependencies_, all_dependencies_;
  std::unordered_map<NodeId, std::optional<Polynomial>> values_;
  /// Number of the last search that reached a node; -1: the node is part of the function already.
  std::vector<int> seen_;
  int num_searches_ = 0;
  std::vector<NodeId> open_;
  std::vector<NodeId> needed_;
};

/// Shares of the operations on its new coefficients that a polynomial is charged: all of them, or fewer where other
/// polynomials use them, too.
constexpr std::array shares{1.0, 0.3};

/// Operations per cell of a function, and the function.
using Counted = std::pair<double, QFunction>;

/// Nodes that hoisting may add: coefficients of coefficients are many, and the text of a kernel must stay short.
constexpr std::size_t max_more_nodes = 700;

double count_or_refuse(const QFunction& function, const PointLoops& loops, std::size_t max_nodes) {
  if (function.graph.reachable(function.roots()).size() > max_nodes) return std::numeric_limits<double>::infinity();
  return count_flops(function, loops);
}

/// Hoists out of the loops over `axis` and the axes outside it: for each, the best rewriting, or none.
Counted hoisted_from(int axis, QFunction function, const PointLoops& loops, std::size_t max_nodes) {
  Counted best{count_or_refuse(function, loops, max_nodes), std::move(function)};
  for (; axis < static_cast<int>(loops.extents.size()); ++axis) {
    AxisHoisting hoisting(best.second, axis, loops);
    if (hoisting.is_empty()) continue;
    for (const double share : shares) {
      auto other = hoisting.rewritten(share);
      const double flops = count_or_refuse(other, loops, max_nodes);
      if (flops < best.first) best = {flops, std::move(other)};
    }
  }
  return best;
}

} // namespace

QFunction hoisted(const QFunction& function, const PointLoops& loops) {
  if (loops.extents.empty()) return function;
  const std::size_t max_nodes = function.graph.reachable(function.roots()).size() + max_more_nodes;
  AxisHoisting innermost(function, 0, loops);
  auto best = hoisted_from(1, function, loops, max_nodes);
  // a polynomial may save operations only once its coefficients are polynomials themselves
  if (!innermost.is_empty())
    for (const double share : shares) {
      auto other = hoisted_from(1, innermost.rewritten(share), loops, max_nodes);
      if (other.first < best.first) best = std::move(other);
    }
  return std::move(best.second);
}

} // namespace rafter::kernel
