// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// Suite `elasticity-solve` solves the beam of two materials of Chang et al., Shifting the sweet spot,
/// arXiv:2601.08374, with the solvers of its tables 3 and 4 as far as there are such, phase by phase: 8 x 1 x 1 cells
/// that are refined until there are so many unknowns, clamped at one end and pulled down at the other.
namespace rafter::bench {

int run_elasticity_solve(std::span<const std::string> arguments);
std::string elasticity_solve_options();

} // namespace rafter::bench
