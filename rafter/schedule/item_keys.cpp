// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/item_keys.hpp>

#include <array>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::schedule {

std::string_view name(Workspace workspace) {
  static constexpr std::array names{"none", "geometry", "coefficients", "shapes", "matrix"};
  return names.at(static_cast<std::size_t>(workspace));
}

std::string_view name(Reading reading) {
  static constexpr std::array names{"coalesced", "plain", "staged"};
  return names.at(static_cast<std::size_t>(reading));
}
std::string_view name(Writing writing) { return writing == Writing::plain ? "plain" : "coalesced"; }

namespace {

constexpr const char* automatic = "auto";

std::optional<int> number_of_items(const std::string& text) {
  if (text == automatic) return 0;
  try {
    const auto number = base::parse_integer(text);
    if (number >= 1 && number <= most_items) return static_cast<int>(number);
  } catch (const base::InputError&) { // It is no number.
  }
  return std::nullopt;
}

using Tried = std::vector<std::string>;

bool computes_by_points(const PlanningProblem& problem, const Plan& plan) {
  return problem.matrix_plan != nullptr && plan[key::contraction] == kernel::Contraction::pointwise;
}
/// The paper's groups have 64 items on graphics processors.
Tried groups_tried(const PlanningProblem& problem, const Plan&) {
  return problem.matrix_plan != nullptr ? Tried{automatic, "64"} : Tried{automatic};
}
Tried readings_tried(const PlanningProblem& problem, const Plan&) {
  return problem.matrix_plan != nullptr ? Tried{"coalesced", "plain", "staged"} : Tried{"coalesced"};
}
Tried writings_tried(const PlanningProblem& problem, const Plan&) {
  return problem.matrix_plan != nullptr ? Tried{"coalesced", "plain"} : Tried{"coalesced"};
}
/// Tables have no arrays of these kinds.
Tried workspaces_tried(const PlanningProblem& problem, const Plan& plan) {
  if (!computes_by_points(problem, plan)) return {"none"};
  return {"none", "geometry", "coefficients", "shapes", "matrix"};
}
/// One number is left free behind each part, where items have any.
Tried paddings_tried(const PlanningProblem&, const Plan& plan) {
  return {plan[key::workspace] == Workspace::none ? "0" : "1"};
}

} // namespace

bool holds_cells(const Plan& plan) {
  return has_items(plan) && !plan[key::mapping].has_points_in_items && !may_have_lanes(plan);
}

namespace key {

constexpr KeyOf<int> work_group{
    {.name = "work_group",
     .place = 121,
     .values = Spelling{
         [](int number) { return number == 0 ? std::string(automatic) : std::to_string(number); }, number_of_items,
         [] {
           return std::vector<std::string>{automatic, "a number of items from 1 to " + std::to_string(most_items)};
         }},
     .shared = 0.8,
     .is_of = holds_cells,
     .tried = groups_tried,
     .is_tried_in_matrices = true}};
constexpr KeyOf<int> cells_per_item{
    {.name = "cells_per_item", .place = 122, .values = Range{1, 64}, .initial = 1, .is_of = holds_cells}};
constexpr KeyOf<Reading> read{{.name = "read",
                               .place = 123,
                               .values = names_up_to<Reading::staged>(),
                               .shared = 0.8,
                               .is_of = holds_cells,
                               .tried = readings_tried,
                               .is_tried_in_matrices = true}};
constexpr KeyOf<Writing> write{{.name = "write",
                                .place = 124,
                                .values = names_up_to<Writing::plain>(),
                                .shared = 0.8,
                                .is_of = holds_cells,
                                .tried = writings_tried,
                                .is_tried_in_matrices = true}};
constexpr KeyOf<Workspace> workspace{{.name = "workspace",
                                      .place = 125,
                                      .values = names_up_to<Workspace::matrix>(),
                                      .shared = 0.6,
                                      .is_of = holds_cells,
                                      .tried = workspaces_tried,
                                      .is_tried_in_matrices = true}};
constexpr KeyOf<bool> padding{{.name = "padding",
                               .place = 126,
                               .values = Range{0, 1},
                               .shared = 0.8,
                               .is_of = holds_cells,
                               .tried = paddings_tried,
                               .is_tried_in_matrices = true}};

} // namespace key

std::span<const Key* const> keys_of_items() {
  static constexpr std::array<const Key*, 6> keys{&key::work_group, &key::cells_per_item, &key::read,
                                                  &key::write,      &key::workspace,      &key::padding};
  return keys;
}

bool reads_cell_by_cell(const Plan& plan) { return holds_cells(plan) && plan[key::read] != Reading::coalesced; }
bool writes_cell_by_cell(const Plan& plan) { return holds_cells(plan) && plan[key::write] != Writing::coalesced; }

} // namespace rafter::schedule
