// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// Suite `poisson-solve` solves Poisson's equation with multigrid on boxes of all shapes and on meshes from files, zero
/// on the whole boundary, and measures the solve and its set-up in applications of the operator.
namespace rafter::bench {

int run_poisson_solve(std::span<const std::string> arguments);
std::string poisson_solve_options();

} // namespace rafter::bench
