// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// Mapping `plain`: one cell after the other, one step after the other, scalars only. The shortest way from a tensor
/// program to a loop program; it never declines and serves as reference for the others.
bool accepts_plain(const LoweringInput& input, const Plan& plan);
LoopProgram lower_plain(const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
