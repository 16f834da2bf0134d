// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/plain.hpp>

namespace rafter::schedule {

bool accepts_plain(const LoweringInput& input, const Plan&) { return input.target.has_lanes; }

LoopProgram lower_plain(const LoweringInput& input, const Plan& plan) {
  Context context(input, plan, ParallelAxis::none);
  Statements body;
  lower_steps(context, body);
  context.result.body = block(context.with_data_row({loop("cell", context.num_active(), block(body))}));
  return std::move(context.result);
}

} // namespace rafter::schedule
