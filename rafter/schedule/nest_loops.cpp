// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_loops.hpp>

#include <algorithm>
#include <span>

#include <rafter/base/error.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::schedule {

Loop over_components(const kernel::TensorProgram& program, int array) { return {{program.array(array).axes.front()}}; }

Loop over_axis(const kernel::TensorProgram& program, int array, int direction, LoopPlace place) {
  for (const int axis : program.array(array).axes)
    if (program.axis(axis).direction == direction) return {{axis}, place};
  throw base::InternalError("schedule: " + program.array(array).name + " has no such axis");
}

Loop over_columns(const kernel::TensorProgram& program, int array) {
  const auto& axes = program.array(array).axes;
  return {{axes.begin() + 2, axes.end()}};
}

bool goes_by_entries(const kernel::TensorProgram& program, const kernel::Step& step) {
  if (step.access < 0) return false;
  const auto& access = program.access(step.access);
  const bool is_matrix =
      access.kind == kernel::AccessKind::stored ||
      (access.kind == kernel::AccessKind::output && program.field_of(access).trial_element != nullptr);
  if (!is_matrix) return false;
  const auto& axes = program.array(step.kind == kernel::StepKind::read ? step.target : step.source).axes;
  return axes.size() == 3 && std::ranges::all_of(std::span(axes).subspan(1), [&](int axis) {
           return program.axis(axis).kind == kernel::AxisKind::dof && program.axis(axis).direction < 0;
         });
}

Nest nest_of(std::vector<Loop> loops, std::vector<Do> what) {
  Nest result{.loops = std::move(loops), .body = {}};
  for (auto& each : what) result.body.emplace_back(each);
  return result;
}

int padded_layer(const Plan& plan, CellPlace cell_place, int entries) {
  constexpr int bytes_of_set = 4096;
  const int bytes = plan[key::compute] == Precision::double_precision ? 8 : 4;
  const bool competes = cell_place == CellPlace::lanes && entries * plan[key::vector_width] * bytes % bytes_of_set == 0;
  return competes ? entries + 1 : entries;
}

} // namespace rafter::schedule
