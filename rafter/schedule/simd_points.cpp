// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/simd_points.hpp>

namespace rafter::schedule {

bool accepts_simd_points(const LoweringInput& input, const Plan& plan) {
  const auto& program = *input.program;
  // Sums over points and stored data would need the number of points in the last, partly filled vector.
  const bool has_tests_alone = std::ranges::all_of(
      program.function.outputs, [](const auto& output) { return output.kind == kernel::OutputKind::test; });
  return input.target.has_lanes && plan.vector_width > 1 && !input.has_lists && can_fuse(program) &&
         !program.integrations.empty() && has_tests_alone;
}

LoopProgram lower_simd_points(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, ParallelAxis::cell);
  Statements body;
  lower_fused_points(context, body);
  return finished(context, std::move(body));
}

} // namespace rafter::schedule
