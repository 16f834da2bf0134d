// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

bool accepts_simd_cells(const LoweringInput&, const Plan& plan) { return plan.lanes > 1; }

LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, LaneAxis::cell);
  Statements body;
  if (can_fuse(context.program))
    lower_fused(context, body);
  else
    lower_steps(context, body);
  if (plan.prefetch) spread_prefetches(context, body);
  if (context.num_groups() > 1) body = {loop("group", integer(context.num_groups()), block(std::move(body)))};
  context.result.body = block(context.with_data_row(std::move(body)));
  return std::move(context.result);
}

} // namespace rafter::schedule
