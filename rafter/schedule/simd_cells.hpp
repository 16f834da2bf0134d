// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// Mapping `simd_cells`: the cells of a batch stand in the lanes of SIMD registers.
bool accepts_simd_cells(const LoweringInput& input, const Plan& plan);
LoopProgram lower_simd_cells(const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
