// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/schedule/plan.hpp>

namespace rafter::report {

/// The plans of a report, each once, under letters that tables show in their place.
class PlanList {
public:
  /// "A" for the first plan, the same letter for an equal one. `of`: what follows the plan, for the list; "": nothing.
  std::string label(const schedule::Plan& plan, const std::string& of = "");
  /// Below the tables: letter, short name, what follows the plan, and the text that replays it; "" without plans.
  std::string text() const;

private:
  struct Entry {
    schedule::Plan plan;
    std::vector<std::string> followers;
  };
  std::vector<Entry> entries_;
};

/// `--plan "..."` with the full text of a plan, in lines that fit a terminal behind so many blanks; a shell takes them
/// as they stand.
std::string replay_text(const schedule::Plan& plan, std::size_t indent);

} // namespace rafter::report
