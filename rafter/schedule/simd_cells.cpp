// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/separable_cells.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

bool accepts_simd_cells(const LoweringInput&, const Plan& plan) { return plan.vector_width > 1; }

LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan) {
  const bool is_separable = input.program->is_separable && input.program->tdim > 1;
  const bool is_fused = !is_separable && can_fuse(*input.program);
  Context context(input, plan, LaneAxis::cell, is_separable || is_fused ? 1 : plan.subbatches);
  Statements body;
  if (is_separable)
    lower_separable(context, body);
  else if (is_fused)
    lower_fused(context, body);
  else
    lower_steps(context, body);
  return finished(context, std::move(body));
}

} // namespace rafter::schedule
