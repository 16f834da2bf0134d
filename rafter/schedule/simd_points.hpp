// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// Mapping `simd_points`: one cell after the other, its points along the first axis of the grid in the lanes of SIMD
/// registers. The arrays of a kernel are an eighth of those of `simd_cells`; contractions along the first axis cannot
/// be halved. For collocated actions on quadrilaterals and hexahedra; declines the rest.
bool accepts_simd_points(const LoweringInput& input, const Plan& plan);
LoopProgram lower_simd_points(const LoweringInput& input, const Plan& plan);

} // namespace rafter::schedule
