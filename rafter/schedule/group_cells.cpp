// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/group_cells.hpp>

#include <algorithm>

#include <rafter/schedule/cell_per_item.hpp>

namespace rafter::schedule {

namespace key {

constexpr KeyOf<int> cells{{.name = "cells", .place = 45, .values = PowersOfTwo{8}, .initial = 8, .shared = 0.6}};

} // namespace key

bool can_have_points_in_items(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  const auto adds = [](const kernel::FieldUse& use) { return use.trial_element == nullptr; };
  const auto is_in_order = [](const kernel::Access& access) { return access.places.empty(); };
  return input.target.has_groups && program.is_grid() && program.tdim > 1 && program.masks.empty() &&
         !program.function.outputs.empty() && kernel::has_tests_alone(program.function) &&
         std::ranges::all_of(program.accesses, is_in_order) && std::ranges::all_of(program.outputs, adds) &&
         !program.batches.has_lists && plan[key::scatter] != Scatter::coloured;
}

bool take_cells(Schedule& schedule, const LoweringInput& input, const Plan& plan) {
  constexpr int enough_items = 256;
  constexpr std::int64_t usual_bytes = std::int64_t{32} << 10; // what every device of today has
  const std::int64_t most_bytes = input.target.shared_bytes > 0 ? input.target.shared_bytes : usual_bytes;
  const int bytes = plan[key::compute] == Precision::double_precision ? 8 : 4;
  const int of_cell = schedule.items[0] * schedule.items[1];
  std::int64_t work_bytes = 0; // An item takes so many.
  for (const auto& memory : schedule.memories)
    if (memory.space == Space::work) work_bytes += std::int64_t{size_of(*input.program, memory)} * bytes;
  const std::int64_t most_work = input.target.most_group_work_bytes;
  for (int count = std::min(plan[key::cells], input.program->batches.cells_per_batch); count > 0; count /= 2) {
    schedule.cells = count;
    const int most = count == 1 ? input.target.most_items : std::min(enough_items, input.target.most_items);
    const bool has_stack = most_work == 0 || of_cell * count * work_bytes <= most_work;
    if (of_cell * count <= most && has_stack && shared_bytes(*input.program, schedule, bytes) <= most_bytes)
      return true;
  }
  return false;
}

} // namespace rafter::schedule
