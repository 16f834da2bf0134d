// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/plan_list.hpp>

#include <algorithm>

#include <rafter/base/text.hpp>
#include <rafter/report/table.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::report {

/// A plan with what follows it.
struct PlanList::Entry {
  schedule::Plan plan;
  std::vector<std::string> followers;
};

namespace {

/// Letters for an index: "A" to "Z", then "AA", "AB", ...
std::string letters(std::size_t index) {
  const std::string last(1, static_cast<char>('A' + index % 26));
  return index < 26 ? last : letters(index / 26 - 1) + last;
}

} // namespace

PlanList::PlanList() = default;
PlanList::PlanList(PlanList&&) noexcept = default;
PlanList& PlanList::operator=(PlanList&&) noexcept = default;
PlanList::~PlanList() = default;

std::string PlanList::label(const schedule::Plan& plan, const std::string& of) {
  auto found = std::ranges::find(entries_, plan, &Entry::plan);
  if (found == entries_.end()) found = entries_.insert(found, {plan, {}});
  if (!of.empty() && std::ranges::find(found->followers, of) == found->followers.end()) found->followers.push_back(of);
  return letters(static_cast<std::size_t>(found - entries_.begin()));
}

std::string PlanList::text() const {
  if (entries_.empty()) return {};
  std::vector<schedule::Plan> plans;
  for (const auto& entry : entries_) plans.push_back(entry.plan);
  const auto names = schedule::short_names(plans);
  std::string text = "plans: what differs from the default plan; below it the text that replays the plan\n";
  const std::size_t indent = letters(entries_.size() - 1).size() + 4;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto label = "  " + letters(i);
    label.resize(indent, ' ');
    const auto& followers = entries_[i].followers;
    text += wrapped(label, names[i] + (followers.empty() ? "" : " (" + base::join(followers, ", ") + ")"));
    text += replay_text(entries_[i].plan, indent);
  }
  return text;
}

std::string replay_text(const schedule::Plan& plan, std::size_t indent) {
  return wrapped(std::string(indent, ' ') + "--plan \"", schedule::to_string(plan) + "\"");
}

} // namespace rafter::report
