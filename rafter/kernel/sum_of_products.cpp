// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/sum_of_products.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

namespace rafter::kernel {

namespace {

using form::NodeId;
using form::ScalarGraph;
using form::ScalarOp;

using Factors = std::vector<NodeId>;     ///< factors in ascending order, repeated for powers
using Terms = std::map<Factors, double>; ///< maps a product of factors to the number that multiplies it

constexpr std::size_t max_terms = 64;
/// Factors of one term. Repeated squaring doubles them: beyond this number a power stays the product that it was.
constexpr std::size_t max_factors = 64;

std::size_t most_factors(const Terms& terms) {
  std::size_t most = 0;
  for (const auto& term : terms) most = std::max(most, term.first.size());
  return most;
}

Factors merged_factors(const Factors& a, const Factors& b) {
  Factors result;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Terms added(Terms a, const Terms& b, double sign) {
  for (const auto& [factors, number] : b) a[factors] += sign * number;
  std::erase_if(a, [](const auto& term) { return term.second == 0; });
  return a;
}

Terms multiplied(const Terms& a, const Terms& b) {
  Terms result;
  for (const auto& [factors_a, number_a] : a)
    for (const auto& [factors_b, number_b] : b) result[merged_factors(factors_a, factors_b)] += number_a * number_b;
  std::erase_if(result, [](const auto& term) { return term.second == 0; });
  return result;
}

class Expander {
public:
  Expander(ScalarGraph& graph, NodeId first_new) : graph_(graph), first_new_(first_new) {}

  const Terms& terms(NodeId id) {
    const auto known = memo_.find(id);
    if (known != memo_.end()) return known->second;
    Terms result = expanded(id);
    if (result.size() > max_terms) result = whole(id);
    return memo_[id] = std::move(result);
  }

private:
  static Terms whole(NodeId id) { return {{{id}, 1.0}}; }
  /// Finds the terms of both operands, those of the first one first, since that may make nodes.
  void make_terms(NodeId a, NodeId b) {
    terms(a);
    terms(b);
  }

  Terms expanded(NodeId id) {
    const auto node = graph_[id];
    const auto [a, b, c] = node.operands;
    switch (node.op) {
    case ScalarOp::constant:
      return node.value == 0 ? Terms{} : Terms{{{}, node.value}};
    case ScalarOp::neg:
      return added({}, terms(a), -1);
    case ScalarOp::mul:
      make_terms(a, b);
      if (terms(a).size() * terms(b).size() > max_terms) return whole(id);
      if (most_factors(terms(a)) + most_factors(terms(b)) > max_factors) return whole(id);
      return multiplied(terms(a), terms(b));
    case ScalarOp::add:
      if (id < first_new_) return whole(id);
      make_terms(a, b);
      return added(terms(a), terms(b), 1);
    case ScalarOp::sub: {
      if (id < first_new_) return whole(id);
      const NodeId opposite = graph_.sub(b, a); // the negative of an existing difference: its operands are exchanged
      if (opposite < first_new_) return Terms{{{opposite}, -1.0}};
      make_terms(a, b);
      return added(terms(a), terms(b), -1);
    }
    default:
      return whole(id);
    }
  }

  ScalarGraph& graph_;
  NodeId first_new_;
  std::map<NodeId, Terms> memo_;
};

NodeId product(ScalarGraph& graph, const Factors& factors) {
  NodeId result = graph.constant(1);
  for (const NodeId factor : factors) result = graph.mul(result, factor);
  return result;
}

Factors common_factors(const Terms& terms) {
  Factors common = terms.begin()->first;
  for (const auto& [factors, number] : terms) {
    Factors both;
    std::set_intersection(common.begin(), common.end(), factors.begin(), factors.end(), std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

/// The number of the first term when all terms agree with it but for signs, else 1.
double common_number(const Terms& terms) {
  const double first = terms.begin()->second;
  const bool all = std::all_of(terms.begin(), terms.end(),
                               [first](const auto& term) { return std::fabs(term.second) == std::fabs(first); });
  return all ? first : 1;
}

} // namespace

FactoredSum factored_sum(ScalarGraph& graph, NodeId node, NodeId first_new) {
  const Terms terms = Expander(graph, first_new).terms(node);
  if (terms.empty()) return {0, {}, graph.constant(1)};
  FactoredSum result{common_number(terms), common_factors(terms), graph.constant(0)};
  for (const auto& [factors, coefficient] : terms) {
    Factors rest;
    std::set_difference(factors.begin(), factors.end(), result.factors.begin(), result.factors.end(),
                        std::back_inserter(rest));
    const NodeId others = product(graph, rest);
    result.sum = graph.add(result.sum, graph.mul(graph.constant(coefficient / result.number), others));
  }
  return result;
}

NodeId assembled(ScalarGraph& graph, const FactoredSum& value) {
  auto known = value.factors, of_fields = Factors();
  const auto has_fields = [&graph](NodeId node) {
    return std::ranges::any_of(graph.reachable(std::array{node}), [&graph](NodeId id) {
      return graph[id].op == ScalarOp::atom && graph[id].atom.kind == form::AtomKind::reference_field;
    });
  };
  if (!has_fields(value.sum)) {
    const auto first = std::stable_partition(known.begin(), known.end(), std::not_fn(has_fields));
    of_fields.assign(first, known.end());
    known.erase(first, known.end());
  }
  // Nodes are made one after the other: their numbers order the factors of products.
  const NodeId number = graph.constant(value.number);
  const NodeId coefficient = graph.mul(value.sum, graph.mul(number, product(graph, known)));
  return graph.mul(coefficient, product(graph, of_fields));
}

} // namespace rafter::kernel
