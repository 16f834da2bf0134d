// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/trip_counts.hpp>

#include <algorithm>

namespace rafter::schedule {

namespace {

/// Value of a sum or product of loop variables.
std::int64_t value_of(const Node& node, const std::unordered_map<std::string_view, std::int64_t>& values) {
  if (node.kind == Kind::integer) return node.integer;
  if (node.kind == Kind::variable) return values.at(node.name);
  const std::int64_t a = value_of(*node.operands[0], values), b = value_of(*node.operands[1], values);
  return node.kind == Kind::iadd ? a + b : a * b;
}

} // namespace

double TripCounts::share_of_first(const Node& condition) const {
  if (condition.kind != Kind::ieq) return 1;
  std::vector<std::string_view> variables;
  for (const auto& operand : condition.operands)
    if (!find_variables(*operand, variables)) return 1;
  if (variables.empty()) return 1;
  Values values;
  return share_of_true(condition, variables, values);
}

/// Collects the loop variables of an expression; false when it has anything but sums and products of variables of loops
/// with known counts.
bool TripCounts::find_variables(const Node& node, std::vector<std::string_view>& variables) const {
  if (node.kind == Kind::integer) return true;
  if (node.kind == Kind::variable) {
    if (!counts_.contains(node.name)) return false;
    if (std::ranges::find(variables, node.name) == variables.end()) variables.emplace_back(node.name);
    return true;
  }
  const bool is_known = node.kind == Kind::iadd || node.kind == Kind::imul;
  return is_known && std::ranges::all_of(node.operands,
                                         [&](const NodePtr& operand) { return find_variables(*operand, variables); });
}

/// Share of all iterations of `variables` in which the condition holds, for the values that other variables have.
double TripCounts::share_of_true(const Node& condition, std::span<const std::string_view> variables,
                                 Values& values) const {
  if (variables.empty())
    return value_of(*condition.operands[0], values) == value_of(*condition.operands[1], values) ? 1 : 0;
  const double count = counts_.at(variables.front());
  double share = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    values[variables.front()] = i;
    share += share_of_true(condition, variables.subspan(1), values) / count;
  }
  return share;
}

} // namespace rafter::schedule
