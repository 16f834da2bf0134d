// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// From a dense kernel of linear elasticity to the planner's, one step after the other: the ablation, operation counts
/// and roofline of Chang et al., Shifting the sweet spot, arXiv:2601.08374, tables 5 and 7, figures 5 and 6. Cell
/// vector to cell vector on a cube of hexahedra, p+2 Gauss points per direction. Every step is a plan (the first two
/// with the law as a general tensor), all are timed side by side on the same vectors. Not covered: the round trip of
/// the values at the points through memory that the paper's kernel fusion removes (kernels here keep a cell's values at
/// hand from the first row on), its solver.
namespace rafter::bench {

int run_elasticity_kernel(std::span<const std::string> arguments);
std::string elasticity_kernel_options();

} // namespace rafter::bench
