// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/mapping.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plain.hpp>
#include <rafter/schedule/simd_cells.hpp>
#include <rafter/schedule/simd_points.hpp>
#include <rafter/space/layout.hpp>

namespace rafter::schedule {

int VectorAccess::patches_per_batch(const space::ElementLayout& layout) const {
  return layout.patch == nullptr ? 0 : cells_per_batch / static_cast<int>(layout.patch->corners.size());
}

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

const std::vector<Mapping>& mappings() {
  // "plain" accepts everything where there are lanes: there, what stands behind it is taken by name alone.
  static const std::vector<Mapping> registry{
      {"simd_cells", "cells across SIMD lanes", accepts_simd_cells, lower_simd_cells},
      {"simd_points", "points along the first axis of the grid across SIMD lanes", accepts_simd_points,
       lower_simd_points, StoredOrder::by_cell},
      {"plain", "one cell after the other, scalars only", accepts_plain, lower_plain},
      {"cell_per_item", "cells across the items of groups, or the lanes of items, on devices that have them",
       accepts_cell_per_item, lower_cell_per_item, StoredOrder::by_batch, true},
  };
  return registry;
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
  plan.mapping = mapping_names(target).front();
  if (has_items(plan)) plan.vector_width = target.lanes_of_item;
  if (has_items(plan) && has_cell_lanes(plan)) plan.scatter = Scatter::coloured;
  return plan;
}

bool runs_on(const Plan& plan, const Target& target) {
  const auto names = mapping_names(target);
  return plan.mapping == assembled_mapping || std::ranges::find(names, plan.mapping) != names.end();
}

void require_mapping(const Plan& plan, const Target& target, const std::string& device) {
  if (runs_on(plan, target)) return;
  auto names = mapping_names(target);
  names.emplace_back(assembled_mapping);
  throw base::InputError(fmt::format("plan: mapping={} does not run on device '{}'; accepted there: {}", plan.mapping,
                                     device, base::join(names, ", ")));
}

const Mapping& choose_mapping(const LoweringInput& input, const Plan& plan) {
  for (const auto& mapping : mappings())
    if (mapping.name == plan.mapping && mapping.accepts(input, plan)) return mapping;
  for (const auto& mapping : mappings())
    if (mapping.accepts(input, plan)) return mapping;
  throw base::InternalError("no mapping accepts the program");
}

bool has_items(const Plan& plan) { return plan.mapping == "cell_per_item"; }
bool may_have_lanes(const Plan& plan) { return !has_items(plan) || plan.vector_width > 1; }
bool has_cell_lanes(const Plan& plan) {
  return (plan.mapping == "simd_cells" || has_items(plan)) && may_have_lanes(plan);
}
bool stores_first_touched(const Plan& plan) {
  return !has_items(plan) || (has_cell_lanes(plan) && plan.scatter == Scatter::coloured);
}
bool may_run_in_any_order(const Plan& plan) { return has_items(plan) && plan.scatter != Scatter::coloured; }
bool has_cell_vectors(const Plan& plan) { return has_items(plan) && plan.scatter == Scatter::two_pass; }

LoopProgram lower(const LoweringInput& input, Plan& plan) {
  const Mapping& chosen = choose_mapping(input, plan);
  const auto divides = [&] {
    return plan.vector_width > 0 && plan.subbatches > 0 &&
           input.access.cells_per_batch % (plan.vector_width * plan.subbatches) == 0;
  };
  if (!(chosen.has_items && plan.vector_width == 1) && !divides())
    throw base::InternalError(
        fmt::format("batches of {} cells do not divide into groups of {}", input.access.cells_per_batch,
                    plan.subbatches == 1 ? fmt::format("{}", plan.vector_width)
                                         : fmt::format("{} x {}", plan.subbatches, plan.vector_width)));
  plan.mapping = chosen.name;
  LoopProgram program = chosen.lower(input, plan);
  verify(program);
  return program;
}

} // namespace rafter::schedule
