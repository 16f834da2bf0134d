// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/separable_cells.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

bool accepts_simd_cells(const LoweringInput&, const Plan& plan) { return plan.lanes > 1; }

LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, LaneAxis::cell);
  Statements body;
  if (context.program.is_separable && context.program.tdim > 1)
    lower_separable(context, body);
  else if (can_fuse(context.program))
    lower_fused(context, body);
  else
    lower_steps(context, body);
  return finished(context, std::move(body));
}

} // namespace rafter::schedule
