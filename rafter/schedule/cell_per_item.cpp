// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/cell_per_item.hpp>

#include <array>

#include <rafter/schedule/group_batches.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

std::string_view name(Scatter scatter) {
  switch (scatter) {
  case Scatter::coloured:
    return "coloured";
  case Scatter::two_pass:
    return "two-pass";
  default:
    return "atomic";
  }
}

namespace key {
// The cost model does not know whether additions of a device are worth a second pass.
constexpr KeyOf<Scatter> scatter{
    {.name = "scatter",
     .place = 120,
     .values = names_up_to<Scatter::two_pass>(),
     .usual =
         [](const Plan& plan, const Plan& device) { // points in items do not add by colours
           return plan[mapping].has_points_in_items ? KeyOf<Scatter>::number(Scatter::atomic) : device.number(scatter);
         },
     .shared = 0.6,
     .tried = [](const PlanningProblem& problem, const Plan&) { return std::vector{problem.scatter}; }}};
} // namespace key

std::span<const Key* const> keys_of_cell_per_item() {
  static constexpr std::array<const Key*, 12> keys{
      &key::vector_width, &key::subbatches,     &key::patches, &key::indices, &key::gathers,   &key::scatter,
      &key::work_group,   &key::cells_per_item, &key::read,    &key::write,   &key::workspace, &key::padding};
  return keys;
}

Plan for_items(Plan plan) {
  plan.set(key::prefetch, false).set(key::stores, Stores::cached);
  if (has_cell_lanes(plan)) return plan;
  plan.set(key::patches, false).set(key::indices, Indices::runs).set(key::gathers, Gathers::vector);
  return plan.set(key::subbatches, 1);
}

std::optional<Schedule> schedule_cell_per_item(const LoweringInput& input, const Plan& plan) {
  if (!input.target.has_groups || input.program->batches.cells_per_batch > input.target.most_items) return std::nullopt;
  return schedule_cells(input, for_items(plan), has_cell_lanes(plan) ? CellPlace::lanes : CellPlace::items);
}

} // namespace rafter::schedule
