// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/cut.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <rafter/base/error.hpp>

namespace rafter::kernel {

namespace {

using form::ScalarOp;

constexpr std::array recipe_names{"recompute", "recompute-merged", "store", "store-merged"};

bool is_trivial(const form::ScalarNode& node) {
  return node.op == ScalarOp::constant || (node.op == ScalarOp::atom && (node.atom.kind == AtomKind::parameter ||
                                                                         node.atom.kind == AtomKind::reference_normal));
}

PointFunction rebuild(const PointFunction& source, const std::vector<Output>& outputs, const Cut& cut) {
  PointFunction result;
  result.shape = source.shape;
  result.map = source.map;
  result.is_facet = source.is_facet;
  std::unordered_map<NodeId, NodeId> memo;
  for (std::size_t s = 0; s < cut.per_point.size(); ++s)
    memo[cut.per_point[s]] = result.graph.atom({AtomKind::stored_point, static_cast<int>(s), 0, 0});
  for (std::size_t s = 0; s < cut.per_cell.size(); ++s)
    memo[cut.per_cell[s]] = result.graph.atom({AtomKind::stored_cell, static_cast<int>(s), 0, 0});
  for (Output output : outputs) {
    output.node = result.graph.import(source.graph, output.node, memo, [](const Atom&) { return NodeId{-1}; });
    result.outputs.push_back(output);
  }
  return result;
}

} // namespace

std::string_view name(Recipe recipe) { return recipe_names[static_cast<std::size_t>(recipe)]; }

CutFunction apply_cut(const PointFunction& function, const Cut& cut) {
  CutFunction result;
  result.main = rebuild(function, function.outputs, cut);
  std::vector<Output> stored;
  for (std::size_t s = 0; s < cut.per_point.size(); ++s)
    stored.push_back({OutputKind::stored_point, 0, static_cast<int>(s), -1, -1, cut.per_point[s]});
  for (std::size_t s = 0; s < cut.per_cell.size(); ++s)
    stored.push_back({OutputKind::stored_cell, 0, static_cast<int>(s), -1, -1, cut.per_cell[s]});
  result.setup = rebuild(function, stored, {});
  return result;
}

Cut full_cut(const PointFunction& function) {
  const auto& graph = function.graph;
  const auto deps = dependencies(function);
  const auto roots = function.roots();
  std::set<NodeId> frontier;
  const auto depends = [&deps](NodeId id, unsigned mask) { return (deps[static_cast<std::size_t>(id)] & mask) != 0; };
  const auto visit = [&](NodeId id) {
    if (!depends(id, on_field) && !is_trivial(graph[id]) && deps[static_cast<std::size_t>(id)] != 0)
      frontier.insert(id);
  };
  for (const NodeId root : roots) visit(root);
  for (const NodeId id : graph.reachable(roots))
    if (depends(id, on_field))
      for (const NodeId operand : graph[id].operands)
        if (operand >= 0) visit(operand);
  Cut cut;
  for (const NodeId id : frontier)
    (deps[static_cast<std::size_t>(id)] == on_cell ? cut.per_cell : cut.per_point).push_back(id);
  return cut;
}

PointCost cost(const PointFunction& function) {
  const auto& graph = function.graph;
  const auto deps = dependencies(function);
  PointCost result;
  std::set<std::pair<int, int>> map_entries;
  for (const NodeId id : graph.reachable(function.roots())) {
    const auto& node = graph[id];
    const bool is_cell = deps[static_cast<std::size_t>(id)] <= on_cell;
    (is_cell ? result.cell_flops : result.point_flops) += form::info(node.op).flops;
    if (node.op != ScalarOp::atom) continue;
    switch (node.atom.kind) {
    case AtomKind::cell_coefficient:
    case AtomKind::stored_cell:
      result.cell_words += 1;
      break;
    case AtomKind::map_coefficient:
      map_entries.insert({node.atom.a, node.atom.b});
      break;
    case AtomKind::stored_point:
      result.point_words += 1;
      break;
    default:
      break;
    }
  }
  result.cell_words += static_cast<double>(map_entries.size());
  return result;
}

void CurvedMap::add_cost(const PointFunction& function, PointCost& cost) const {
  PointFunction map; // as the function without all but the atoms of the map
  map.shape = function.shape;
  map.map = function.map;
  map.is_facet = function.is_facet;
  NodeId sum = -1;
  for (const NodeId id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    if (node.op != ScalarOp::atom || (node.atom.kind != AtomKind::jacobian && node.atom.kind != AtomKind::coordinate))
      continue;
    const NodeId atom = map.graph.atom(node.atom);
    sum = sum < 0 ? atom : map.graph.add(sum, atom);
  }
  if (sum < 0 || function.map != mesh::MapKind::isoparametric) return;
  map.outputs.push_back({.kind = OutputKind::integral, .node = sum});
  auto alone = input;
  alone.function = std::move(map);
  alone.inputs.clear();
  alone.outputs.clear();
  cost.geometry_flops = count_contraction_flops(build_program(alone));
  cost.cell_words += input.geometry->num_dofs() * function.tdim();
}

std::vector<Choice> recipes(const PointFunction& function, int num_points, const Balance& balance,
                            const CurvedMap* curved) {
  const auto deps = dependencies(function);
  bool has_field = false;
  bool has_trial = false;
  for (const NodeId id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    has_field = has_field || (deps[static_cast<std::size_t>(id)] & on_field) != 0;
    has_trial = has_trial || (node.op == ScalarOp::atom && node.atom.kind == AtomKind::reference_trial);
  }
  std::vector<Choice> result;
  const auto add = [&](Recipe recipe, const PointFunction& written, bool stores) {
    Choice choice;
    choice.recipe = recipe;
    choice.functions = apply_cut(written, stores ? full_cut(written) : Cut{});
    choice.cost = cost(choice.functions.main);
    if (curved != nullptr) curved->add_cost(choice.functions.main, choice.cost);
    const double flops =
        choice.cost.cell_flops + choice.cost.geometry_flops / contraction_share + num_points * choice.cost.point_flops;
    const double bytes = 8 * (choice.cost.cell_words + num_points * choice.cost.point_words);
    // Without overlap guarantees the sum ranks better than the maximum alone: the smaller part counts a tenth.
    const double compute = flops / balance.flops_per_second;
    const double memory = bytes / balance.bytes_per_second;
    choice.seconds_per_cell = std::max(compute, memory) + 0.1 * std::min(compute, memory);
    result.push_back(std::move(choice));
  };
  add(Recipe::recompute, function, false);
  if (has_field) add(Recipe::store, function, true);
  if (has_trial) {
    const PointFunction merged_function = merged(function);
    if (function.map != mesh::MapKind::isoparametric) add(Recipe::recompute_merged, merged_function, false);
    add(Recipe::store_merged, merged_function, true);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Choice& a, const Choice& b) { return a.seconds_per_cell < b.seconds_per_cell; });
  return result;
}

} // namespace rafter::kernel
