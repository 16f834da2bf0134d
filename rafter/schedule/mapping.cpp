// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/mapping.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plain.hpp>
#include <rafter/schedule/point_per_item.hpp>
#include <rafter/schedule/schedule_lowering.hpp>
#include <rafter/schedule/simd_cells.hpp>
#include <rafter/schedule/simd_points.hpp>
#include <rafter/schedule/slab.hpp>

namespace rafter::schedule {

std::int64_t num_matrix_entries(const kernel::TensorProgram& program) {
  std::int64_t result = 0;
  for (const auto& use : program.outputs) result += std::int64_t{use.components} * use.num_dofs();
  return result;
}

int num_matrix_records(std::int64_t num_entries, int cells_per_batch) {
  constexpr std::int64_t numbers_in_caches = 1 << 14, most = 16;
  const std::int64_t per_record = std::max<std::int64_t>(1, num_entries * cells_per_batch);
  return static_cast<int>(std::clamp<std::int64_t>(numbers_in_caches / per_record, 1, most));
}

namespace {

/// The planner leaves alone what no device has been measured with.
bool never_tried(const PlanningProblem&, const Plan&) { return false; }

} // namespace

std::span<const Mapping> named_mappings() {
  // "plain" accepts everything where there are lanes: there, what stands behind it is taken by name alone.
  static const std::array all{
      Mapping{.name = "simd_cells",
              .description = "cells across SIMD lanes",
              .schedule = schedule_simd_cells,
              .keys = keys_of_host(),
              .is_tried = may_try_simd_cells},
      Mapping{.name = "simd_points",
              .description = "points along the first axis of the grid across SIMD lanes",
              .schedule = schedule_simd_points,
              .keys = keys_of_host(),
              .is_tried = may_try_simd_points,
              .stores_by_slot = true},
      Mapping{.name = "plain",
              .description = "one cell after the other, scalars only",
              .schedule = schedule_plain,
              .keys = keys_of_host(),
              .is_tried = may_try_plain},
      Mapping{.name = "cell_per_item",
              .description = "cells across the items of groups, or the lanes of items, on devices that have them",
              .schedule = schedule_cell_per_item,
              .keys = keys_of_cell_per_item(),
              .has_items = true},
      Mapping{.name = "slab",
              .description = "points of a layer across the items of groups, which march along the last axis",
              .schedule = schedule_slab,
              .keys = keys_of_slab(),
              .is_tried = never_tried,
              .stores_by_slot = true,
              .has_items = true,
              .has_points_in_items = true},
      Mapping{.name = "point_per_item",
              .description = "results of each step across the items of groups",
              .schedule = schedule_point_per_item,
              .keys = keys_of_point_per_item(),
              .is_tried = never_tried,
              .stores_by_slot = true,
              .has_items = true,
              .has_points_in_items = true},
      Mapping{.name = std::string(assembled_mapping),
              .description = "a matrix of the whole operator",
              .schedule = [](const LoweringInput&, const Plan&) { return std::optional<Schedule>{}; },
              .keys = keys_of_host()}};
  return all;
}

std::span<const Mapping> mappings() { return named_mappings().first(named_mappings().size() - 1); }

const Mapping& mapping_named(std::string_view name) {
  const auto all = named_mappings();
  const auto found = std::ranges::find(all, name, &Mapping::name);
  if (found == all.end()) throw base::InternalError(fmt::format("there is no mapping '{}'", name));
  return *found;
}

std::vector<std::string> mapping_names() {
  std::vector<std::string> names;
  for (const auto& mapping : mappings()) names.push_back(mapping.name);
  return names;
}

std::vector<std::string> mapping_names(const Target& target) {
  std::vector<std::string> names;
  for (const auto& mapping : mappings())
    if (mapping.has_axes(target)) names.push_back(mapping.name);
  return names;
}

Plan usual_plan(const Target& target) {
  Plan plan;
  plan.set(key::mapping, mapping_named(mapping_names(target).front()));
  if (has_items(plan)) plan.set(key::vector_width, target.lanes_of_item);
  if (has_items(plan) && has_cell_lanes(plan)) plan.set(key::scatter, Scatter::coloured);
  return plan;
}

bool runs_on(const Plan& plan, const Target& target) {
  return is_assembled(plan) || plan[key::mapping].has_axes(target);
}

void require_mapping(const Plan& plan, const Target& target, const std::string& device) {
  if (runs_on(plan, target)) return;
  auto names = mapping_names(target);
  names.emplace_back(assembled_mapping);
  throw base::InputError(fmt::format("plan: mapping={} does not run on device '{}'; accepted there: {}",
                                     plan[key::mapping].name, device, base::join(names, ", ")));
}

Choice choose_mapping(const LoweringInput& input, const Plan& plan) {
  if (input.program->has_dependent_axes()) // interpreted alone so far
    throw base::InternalError("no mapping accepts axes whose extents depend on other indices");
  const auto tried = [&](const Mapping& mapping) -> Choice {
    auto schedule = mapping.schedule(input, plan);
    if (schedule) {
      auto taken = plan;
      schedule->way = way_of(taken.set(key::mapping, mapping));
    }
    return {&mapping, schedule ? std::make_shared<const Schedule>(std::move(*schedule)) : nullptr};
  };
  if (auto choice = tried(plan[key::mapping]); choice.schedule != nullptr) return choice;
  for (const auto& mapping : mappings())
    if (auto choice = tried(mapping); choice.schedule != nullptr) return choice;
  throw base::InternalError("no mapping accepts the program");
}

bool has_items(const Plan& plan) { return plan[key::mapping].has_items; }
bool may_have_lanes(const Plan& plan) {
  return !has_items(plan) || (!plan[key::mapping].has_points_in_items && plan[key::vector_width] > 1);
}
bool has_cell_lanes(const Plan& plan) {
  return (plan[key::mapping].name == "simd_cells" || has_items(plan)) && may_have_lanes(plan);
}
StoredOrder stored_order(const Plan& plan) {
  // Lanes read the numbers of their cells as one vector, so that so many cells stand side by side.
  return {.cells = has_cell_lanes(plan) ? plan[key::vector_width] : 0, .is_by_slot = plan[key::mapping].stores_by_slot};
}
std::string_view name(Way way) {
  static constexpr std::array names{"first touch", "in turn", "atomic", "cell vector"};
  return names.at(static_cast<std::size_t>(way));
}
Way way_of(const Plan& plan) {
  if (!has_items(plan)) return Way::first_touch;
  switch (plan[key::scatter]) {
  case Scatter::coloured:
    break;
  case Scatter::atomic:
    return Way::atomic;
  case Scatter::two_pass:
    return Way::cell_vector;
  }
  return has_cell_lanes(plan) ? Way::first_touch : Way::in_turn;
}

LoopProgram lower(const LoweringInput& input, Plan& plan, const Choice& choice) {
  const Mapping& chosen = *choice.mapping;
  const int cells_per_batch = input.program->batches.cells_per_batch;
  const auto divides = [&] {
    return plan[key::vector_width] > 0 && plan[key::subbatches] > 0 &&
           cells_per_batch % (plan[key::vector_width] * plan[key::subbatches]) == 0;
  };
  const bool has_lanes = !chosen.has_items || (!chosen.has_points_in_items && plan[key::vector_width] > 1);
  if (has_lanes && !divides())
    throw base::InternalError(fmt::format(
        "batches of {} cells do not divide into groups of {}", cells_per_batch,
        plan[key::subbatches] == 1 ? fmt::format("{}", plan[key::vector_width])
                                   : fmt::format("{} x {}", plan[key::subbatches], plan[key::vector_width])));
  plan.set(key::mapping, chosen);
  LoopProgram program = lower(input, chosen.has_items ? for_items(plan) : plan, *choice.schedule);
  verify(program);
  return program;
}

LoopProgram lower(const LoweringInput& input, Plan& plan) { return lower(input, plan, choose_mapping(input, plan)); }

} // namespace rafter::schedule
