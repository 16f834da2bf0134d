// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/cut.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <rafter/kernel/hoisting.hpp>
#include <rafter/kernel/min_cut.hpp>

namespace rafter::kernel {

namespace {

using form::ScalarOp;

/// Number of additions that take the time of one operation `op`: processors divide in the time of some tens of sums.
double weight(ScalarOp op) {
  constexpr double division = 20, function = 40;
  switch (form::info(op).effort) {
  case form::Effort::quotient:
    return division;
  case form::Effort::function:
    return function;
  case form::Effort::simple:
    break;
  }
  return form::info(op).flops;
}

bool is_of_map(const form::ScalarNode& node) {
  return node.op == ScalarOp::atom && (node.atom.kind == AtomKind::jacobian || node.atom.kind == AtomKind::coordinate);
}
bool is_of_data(const form::ScalarNode& node) {
  return node.op == ScalarOp::atom && node.atom.kind == AtomKind::reference_field;
}
/// Operations per cell that compute one component of a value or derivative of a data field at all points: a contraction
/// along each axis of a grid, else a dense product.
double evaluation_flops(const PointLoops& loops) {
  const double points = loops.num_points;
  if (loops.extents.empty()) return 2 * points * points;
  return 2 * points * std::accumulate(loops.extents.begin(), loops.extents.end(), 0.0);
}
bool is_word_per_cell(const form::ScalarNode& node) {
  return node.op == ScalarOp::atom &&
         (node.atom.kind == AtomKind::map_coefficient || node.atom.kind == AtomKind::cell_coefficient);
}

QFunction rebuild(const QFunction& source, const std::vector<Output>& outputs, const Cut& cut) {
  QFunction result;
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

namespace {
constexpr const char *merged_ending = "-merged", *data_ending = "-law";
} // namespace

std::string name(const FactorStorage& factors) {
  std::string text = "recompute";
  if (factors.kind == FactorStorage::Kind::partial) text = fmt::format("partial-{}", factors.num_stored);
  if (factors.kind == FactorStorage::Kind::store) text = "store";
  return text + (factors.is_merged ? merged_ending : "") + (factors.stores_data ? data_ending : "");
}

std::optional<FactorStorage> parse_factor_storage(std::string_view text) {
  FactorStorage factors;
  constexpr std::string_view partial = "partial-";
  const auto take = [&text](std::string_view ending) {
    if (!text.ends_with(ending)) return false;
    text.remove_suffix(ending.size());
    return true;
  };
  factors.stores_data = take(data_ending);
  factors.is_merged = take(merged_ending);
  if (text == "recompute") return factors.stores_data ? std::nullopt : std::optional(factors);
  factors.kind = FactorStorage::Kind::store;
  if (text == "store") return factors;
  if (!text.starts_with(partial)) return std::nullopt;
  text.remove_prefix(partial.size());
  factors.kind = FactorStorage::Kind::partial;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factors.num_stored);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  // each storage has one text: no sign, no leading zero
  if (!is_number || factors.num_stored < 1 || factors.num_stored > 999 || text != std::to_string(factors.num_stored))
    return std::nullopt;
  return factors;
}

std::vector<std::string> factor_storage_names() {
  return {"recompute",     "recompute-merged",     "partial-N", "partial-N-merged", "store", "store-merged",
          "partial-N-law", "partial-N-merged-law", "store-law", "store-merged-law"};
}

CutFunction apply_cut(const QFunction& function, const Cut& cut) {
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

Cut cheapest_cut(const QFunction& function, const PointLoops& loops, double flops_per_word, double map_flops,
                 bool stores_data) {
  if (!std::isfinite(flops_per_word)) return {};
  const unsigned in_main = stores_data ? on_trial : on_field;
  const auto& graph = function.graph;
  const auto deps = dependencies(function);
  const auto set_of = [&deps](NodeId id) { return deps[static_cast<std::size_t>(id)]; };
  const auto roots = function.roots();
  std::set<NodeId> needed;
  const auto need = [&](NodeId id) {
    if (id >= 0 && (set_of(id) & in_main) == 0) needed.insert(id);
  };
  for (const NodeId root : roots) need(root);
  for (const NodeId id : graph.reachable(roots))
    if ((set_of(id) & in_main) != 0)
      for (const NodeId operand : graph[id].operands) need(operand);
  const auto price = [&](NodeId id) {
    const auto& node = graph[id];
    Price result{.compute = weight(node.op) * loops.evaluations(set_of(id))};
    if (is_word_per_cell(node)) result.compute = flops_per_word;
    if (is_of_map(node)) result.compute = std::max<double>(map_flops, loops.num_points);
    if (is_of_data(node)) result.compute = evaluation_flops(loops);
    // Values that are the same in all cells are never stored: the data of each cell would have a copy.
    if ((set_of(id) & on_cell) != 0 && !is_word_per_cell(node))
      result.fetch = flops_per_word * (is_per_cell(set_of(id)) ? 1 : loops.num_points);
    return result;
  };
  const std::vector<NodeId> all(needed.begin(), needed.end());
  Cut cut;
  for (const NodeId id : cheapest_fetches(graph, all, price))
    (is_per_cell(set_of(id)) ? cut.per_cell : cut.per_point).push_back(id);
  return cut;
}

PointCost cost(const QFunction& function, const PointLoops& loops) {
  const auto& graph = function.graph;
  const auto deps = dependencies(function);
  PointCost result;
  result.flops = count_flops(function, loops);
  std::set<std::pair<int, int>> map_entries;
  for (const NodeId id : graph.reachable(function.roots())) {
    const auto& node = graph[id];
    const bool is_cell = is_per_cell(deps[static_cast<std::size_t>(id)]);
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

void CurvedMap::add_cost(const QFunction& function, PointCost& cost) const {
  QFunction map; // a function of the same shape and map that reads the map alone
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
  alone.fields.inputs.clear();
  alone.fields.outputs.clear();
  cost.geometry_flops = count_contraction_flops(build_program(alone));
  cost.cell_words += input.fields.geometry->num_dofs() * function.tdim();
}

namespace {

/// Operations per number read at which cuts are made. Machines and kernels lie between them: an operation counts at the
/// share of the peak that kernels reach, a number as read from a near cache (low) or from memory (high).
constexpr std::array exchange_rates{2.0, 8.0, 16.0, 32.0, 64.0};
constexpr double next_to_nothing = 1e-3;

/// Collects the storages of factors of one function, which may be written in several ways.
class Chooser {
public:
  Chooser(const QFunction& function, const PointLoops& loops, const Balance& balance, const CurvedMap* curved)
      : loops_(loops), balance_(balance), curved_(curved) {
    const auto order = function.graph.reachable(function.roots());
    const auto num_entries = std::ranges::count_if(order, [&](NodeId id) { return is_of_map(function.graph[id]); });
    if (curved_ == nullptr || num_entries == 0) return;
    PointCost all;
    curved_->add_cost(function, all);
    map_flops_ = all.geometry_flops / contraction_share / static_cast<double>(num_entries);
  }

  void add_recomputed(const QFunction& written, bool is_merged) { add(written, {.is_merged = is_merged}, {}); }
  void add_stored(const QFunction& written, bool is_merged, bool stores_data = false) {
    const auto all = cheapest_cut(written, loops_, next_to_nothing, map_flops_, stores_data);
    add(written, {.kind = FactorStorage::Kind::store, .is_merged = is_merged, .stores_data = stores_data}, all);
    add_partial(written, is_merged, stores_data, all.per_point);
  }
  /// Adds the cuts of `written` that store something per point, other than the cut that stores exactly the nodes
  /// `known`.
  void add_partial(const QFunction& written, bool is_merged, bool stores_data = false, std::vector<NodeId> known = {}) {
    for (const double rate : exchange_rates) {
      auto cut = cheapest_cut(written, loops_, rate, map_flops_, stores_data);
      if (cut.per_point.empty()) break;
      const auto num_stored = static_cast<int>(cut.per_point.size());
      if (cut.per_point != known)
        add(written,
            {.kind = FactorStorage::Kind::partial,
             .is_merged = is_merged,
             .num_stored = num_stored,
             .stores_data = stores_data},
            cut);
      known = std::move(cut.per_point);
    }
  }

  std::vector<Choice> take() {
    for (auto& choice : choices_) {
      choice.on_grid = hoisted(choice.functions.main, loops_);
      estimate(choice, choice.on_grid);
    }
    std::ranges::stable_sort(choices_, {}, &Choice::seconds_per_cell);
    for (auto& choice : choices_) choice.is_dominated = is_dominated(choice);
    return std::move(choices_);
  }

private:
  /// Adds a choice. Of two ways to write the same storage, the one with fewer operations stays, independent of the
  /// machine, so that the name of a storage always means the same function.
  void add(const QFunction& written, const FactorStorage& factors, const Cut& cut) {
    Choice choice{.factors = factors, .functions = apply_cut(written, cut)};
    estimate(choice, choice.functions.main);
    const auto known = std::ranges::find(choices_, factors, &Choice::factors);
    if (known == choices_.end())
      choices_.push_back(std::move(choice));
    else if (std::pair(flops(choice.cost), words(choice.cost)) < std::pair(flops(known->cost), words(known->cost)))
      *known = std::move(choice);
  }
  void estimate(Choice& choice, const QFunction& function) const {
    choice.cost = cost(function, loops_);
    if (curved_ != nullptr) curved_->add_cost(function, choice.cost);
    choice.cost.geometry_flops += num_data_atoms(function) * evaluation_flops(loops_);
    choice.seconds_per_cell = seconds(choice.cost);
  }
  static double num_data_atoms(const QFunction& function) {
    return static_cast<double>(std::ranges::count_if(function.graph.reachable(function.roots()),
                                                     [&](NodeId id) { return is_of_data(function.graph[id]); }));
  }
  double flops(const PointCost& cost) const { return cost.flops + cost.geometry_flops / contraction_share; }
  double words(const PointCost& cost) const { return cost.cell_words + loops_.num_points * cost.point_words; }
  double seconds(const PointCost& cost) const {
    // The sum ranks better than the maximum alone, since overlap is not guaranteed: the smaller part counts a tenth.
    const double compute = flops(cost) / balance_.flops_per_second;
    const double memory = 8 * words(cost) / balance_.bytes_per_second;
    return std::max(compute, memory) + 0.1 * std::min(compute, memory);
  }
  bool is_dominated(const Choice& choice) const {
    return std::ranges::any_of(choices_, [&](const Choice& other) {
      const double more_flops = flops(choice.cost) - flops(other.cost);
      const double more_words = words(choice.cost) - words(other.cost);
      const bool is_equal = more_flops == 0 && more_words == 0;
      return more_flops >= 0 && more_words >= 0 && (!is_equal || &other < &choice);
    });
  }

  PointLoops loops_;
  const Balance& balance_;
  const CurvedMap* curved_;
  double map_flops_ = 0;
  std::vector<Choice> choices_;
};

} // namespace

std::vector<Choice> factor_storages(const QFunction& function, const PointLoops& loops, const Balance& balance,
                                    const CurvedMap* curved) {
  const auto deps = dependencies(function);
  bool has_field = false, has_data = false;
  bool has_trial = false;
  for (const NodeId id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    has_field = has_field || (deps[static_cast<std::size_t>(id)] & on_field) != 0;
    has_data = has_data || is_of_data(node);
    has_trial = has_trial || (node.op == ScalarOp::atom && node.atom.kind == AtomKind::reference_trial);
  }
  Chooser chooser(function, loops, balance, curved);
  chooser.add_recomputed(function, false);
  if (has_field) chooser.add_stored(function, false);
  if (has_trial) {
    const bool is_recomputed = function.map != mesh::MapKind::isoparametric;
    const QFunction inside = merged(function), outside = merged(function, true);
    chooser.add_stored(inside, true);
    chooser.add_partial(outside, true);
    if (is_recomputed) chooser.add_recomputed(inside, true);
    if (is_recomputed) chooser.add_recomputed(outside, true);
    if (has_data) {
      chooser.add_stored(function, false, true);
      chooser.add_stored(inside, true, true);
      chooser.add_partial(outside, true, true);
    }
  }
  return chooser.take();
}

} // namespace rafter::kernel
