// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rafter::schedule {
class Plan;
} // namespace rafter::schedule

namespace rafter::report {

/// The plans of a report, each listed once, with the letters that stand for them in tables.
class PlanList {
public:
  PlanList();
  PlanList(PlanList&&) noexcept;
  PlanList& operator=(PlanList&&) noexcept;
  ~PlanList();
  /// Letter of a plan: "A" for the first, and the same letter for equal plans. `of` names what follows the plan, for
  /// the list; "": nothing.
  std::string label(const schedule::Plan& plan, const std::string& of = "");
  /// The list below the tables: letter, short name, what follows the plan, and the text that replays it; "" without
  /// plans.
  std::string text() const;

private:
  struct Entry;
  std::vector<Entry> entries_;
};

/// The option `--plan "..."` with the full text of a plan, in lines that fit a terminal, each after `indent` blanks; a
/// shell accepts them as they are.
std::string replay_text(const schedule::Plan& plan, std::size_t indent);

} // namespace rafter::report
