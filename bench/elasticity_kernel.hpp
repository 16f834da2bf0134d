// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// This suite goes from a dense kernel of linear elasticity to the planner's, one step after the other, as the
/// ablation, operation counts and roofline of Chang et al., Shifting the sweet spot, arXiv:2601.08374, tables 5 and 7,
/// figures 5 and 6. Operators act on cell vectors on a cube of hexahedra, with p+2 Gauss points per direction. Steps
/// before the paper's kernel fusion are two loops that meet in memory, the others are one; the first two have the law
/// as a general tensor. All are timed side by side on the same vectors. The paper's solver is not covered.
namespace rafter::bench {

int run_elasticity_kernel(std::span<const std::string> arguments);
std::string elasticity_kernel_options();

} // namespace rafter::bench
