// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// Trip counts of the loops around a statement, and how often a branch in them takes its first alternative.
class TripCounts {
public:
  /// A loop with a literal count around what follows, until it is left. The name must outlive the object.
  void enter(std::string_view variable, double count) { counts_[variable] = count; }
  void leave(std::string_view variable) { counts_.erase(variable); }

  /// What is done in one iteration of a loop is done in that one: the share of iterations in which sums and products of
  /// loop variables are equal. All other conditions: 1, the first alternative is the regular path.
  double share_of_first(const Node& condition) const;

private:
  using Values = std::unordered_map<std::string_view, std::int64_t>; ///< of loop variables
  bool find_variables(const Node& node, std::vector<std::string_view>& variables) const;
  double share_of_true(const Node& condition, std::span<const std::string_view> variables, Values& values) const;

  std::unordered_map<std::string_view, double> counts_;
};

} // namespace rafter::schedule
