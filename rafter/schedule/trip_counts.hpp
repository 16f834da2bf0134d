// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// Numbers of iterations of the loops around a statement, and from them how often a branch takes its first alternative.
class TripCounts {
public:
  /// Notes a loop with a fixed count around all that follows, until leave() is called. The name must outlive the
  /// object.
  void enter(std::string_view variable, double count) { counts_[variable] = count; }
  void leave(std::string_view variable) { counts_.erase(variable); }

  /// Share of the iterations in which `condition` holds, if it compares sums and products of loop variables ("do this
  /// in one iteration only"). For all other conditions 1, because the first alternative is the regular path.
  double share_of_first(const Node& condition) const;

private:
  using Values = std::unordered_map<std::string_view, std::int64_t>; ///< values of loop variables
  bool find_variables(const Node& node, std::vector<std::string_view>& variables) const;
  double share_of_true(const Node& condition, std::span<const std::string_view> variables, Values& values) const;

  std::unordered_map<std::string_view, double> counts_;
};

} // namespace rafter::schedule
