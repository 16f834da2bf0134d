// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/quadratic_form.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rafter::form {
namespace {

constexpr std::size_t max_terms = 64;   ///< most terms of sums that are looked at
constexpr std::size_t max_nodes = 1024; ///< most nodes of these sums, and of the left factors of their products

using Term = QuadraticForm::Term;

/// The products of a sum, negative ones with negative weights. Of two factors the node that was made first is `right`:
/// nodes that depend on it come later.
class Products {
public:
  Products(const ScalarGraph& graph, const std::function<bool(NodeId)>& is_constant)
      : graph_(graph), is_constant_(is_constant) {}

  /// False where a term is no product of two nodes that both vary, and where there are too many.
  bool add(NodeId root) {
    if (!find(root)) return false;
    // Users come before their operands, so that a node that several sums share is taken once, with the sum of its
    // weights.
    std::map<NodeId, double, std::greater<>> weights{{root, 1.0}};
    for (auto at = weights.begin(); at != weights.end(); ++at)
      for (const auto& [operand, factor] : summands(at->first)) weights[operand] += factor * at->second;
    return std::ranges::all_of(products_, [&](NodeId id) {
      const auto [a, b, c] = graph_[id].operands;
      return std::isfinite(weights.at(id)) && add_product(a, b, weights.at(id));
    });
  }

  std::vector<Term> terms;

private:
  using Summands = std::vector<std::pair<NodeId, double>>;

  /// The summands of a node with their factors; nothing where it is no sum and no multiple.
  Summands summands(NodeId id) const {
    const auto node = graph_[id];
    const auto [a, b, c] = node.operands;
    switch (node.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
      return {{a, 1.0}, {b, node.op == ScalarOp::add ? 1.0 : -1.0}};
    case ScalarOp::neg:
      return {{a, -1.0}};
    case ScalarOp::mul:
      if (graph_[a].op == ScalarOp::constant) return {{b, graph_[a].value}};
      if (graph_[b].op == ScalarOp::constant) return {{a, graph_[b].value}};
      return {};
    default:
      return {};
    }
  }

  /// Finds the products in the order in which they stand, each once.
  bool find(NodeId root) {
    std::vector<NodeId> pending{root};
    std::unordered_set<NodeId> is_seen;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (!is_seen.insert(id).second) continue;
      const auto next = summands(id);
      for (auto summand = next.rbegin(); summand != next.rend(); ++summand) pending.push_back(summand->first);
      if (next.empty()) {
        const auto [a, b, c] = graph_[id].operands;
        if (graph_[id].op != ScalarOp::mul || is_constant_(a) || is_constant_(b)) return false;
        products_.push_back(id);
      }
      if (pending.size() > max_terms || is_seen.size() > max_nodes) return false;
    }
    return true;
  }

  bool add_product(NodeId a, NodeId b, double weight) {
    a = without_number(a, weight);
    b = without_number(b, weight);
    const NodeId right = std::min(a, b), left = std::max(a, b);
    const auto known = std::ranges::find(terms, right, &Term::right);
    if (known == terms.end()) {
      terms.push_back({weight, left, right});
      return terms.size() <= max_terms;
    }
    known->weight += weight;
    return known->left == left;
  }
  /// The other factor of a product with a number, which goes into the weight.
  NodeId without_number(NodeId id, double& weight) const {
    const auto node = graph_[id];
    if (node.op != ScalarOp::mul) return id;
    for (const std::size_t i : {0u, 1u})
      if (graph_[node.operands[i]].op == ScalarOp::constant) {
        weight *= graph_[node.operands[i]].value;
        return without_number(node.operands[1 - i], weight);
      }
    return id;
  }

  const ScalarGraph& graph_;
  const std::function<bool(NodeId)>& is_constant_;
  std::vector<NodeId> products_;
};

/// Nodes as linear functions of the variables.
class LinearFunctions {
public:
  using Coefficients = std::map<std::size_t, NodeId>; ///< variable -> constant node; others are zero

  LinearFunctions(ScalarGraph& graph, const std::vector<Term>& terms, const std::function<bool(NodeId)>& is_constant)
      : graph_(graph), is_constant_(is_constant) {
    for (std::size_t k = 0; k < terms.size(); ++k) known_[terms[k].right] = Coefficients{{k, graph.constant(1)}};
  }

  /// Nothing for nodes that are no linear functions of the variables alone.
  const std::optional<Coefficients>& of(NodeId id) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    auto result = known_.size() < max_nodes ? made(id) : std::nullopt;
    return known_[id] = std::move(result);
  }

private:
  std::optional<Coefficients> made(NodeId id) {
    const auto node = graph_[id];
    const auto [a, b, c] = node.operands;
    switch (node.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
      return combined(node.op, of(a), b);
    case ScalarOp::neg:
      return scaled(of(a), graph_.constant(-1));
    case ScalarOp::mul:
      if (is_constant_(a)) return scaled(of(b), a);
      return is_constant_(b) ? scaled(of(a), b) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  std::optional<Coefficients> combined(ScalarOp op, std::optional<Coefficients> first, NodeId second_node) {
    if (!first) return std::nullopt;
    const auto& second = of(second_node);
    if (!second) return std::nullopt;
    for (const auto& [variable, coefficient] : *second) {
      const auto found = first->find(variable);
      const NodeId before = found == first->end() ? graph_.constant(0) : found->second;
      (*first)[variable] = graph_.make(op, before, coefficient);
    }
    return first;
  }

  std::optional<Coefficients> scaled(std::optional<Coefficients> function, NodeId factor) {
    if (!function) return std::nullopt;
    for (auto& entry : *function) entry.second = graph_.mul(factor, entry.second);
    return function;
  }

  ScalarGraph& graph_;
  const std::function<bool(NodeId)>& is_constant_;
  std::unordered_map<NodeId, std::optional<Coefficients>> known_;
};

/// weight_k C_kl = weight_l C_lk for all entries of the rows.
bool is_symmetric(ScalarGraph& graph, const std::vector<Term>& terms,
                  const std::vector<LinearFunctions::Coefficients>& rows) {
  const auto entry = [&](std::size_t k, std::size_t l) {
    const auto found = rows[k].find(l);
    return found == rows[k].end() ? graph.constant(0) : graph.mul(graph.constant(terms[k].weight), found->second);
  };
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (const auto& coefficient : rows[k]) {
      const NodeId upper = entry(k, coefficient.first);
      if (upper != entry(coefficient.first, k)) return false;
    }
  return true;
}

} // namespace

std::optional<QuadraticForm> find_quadratic_form(ScalarGraph& graph, NodeId root,
                                                 const std::function<bool(NodeId)>& is_constant) {
  Products products(graph, is_constant);
  if (!products.add(root)) return std::nullopt;
  auto& terms = products.terms;
  LinearFunctions functions(graph, terms, is_constant);
  std::vector<LinearFunctions::Coefficients> rows;
  for (const auto& term : terms) {
    const auto& row = functions.of(term.left);
    if (!row) return std::nullopt;
    rows.push_back(*row);
  }
  if (!is_symmetric(graph, terms, rows)) return std::nullopt;
  return QuadraticForm{std::move(terms)};
}

} // namespace rafter::form
