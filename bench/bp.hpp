// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// CEED's bake-off problems and kernels (https://ceed.exascaleproject.org/bps), a Helmholtz operator and linear
/// elasticity are measured over degree and size, on a square or cube of cells of any shape or on the mesh of a file.
/// Right-hand sides, boundary conditions and preconditioners are not covered.
namespace rafter::bench {

/// Suite `bp` applies operators to global vectors. Its rates stand beside the best figures of other libraries, scaled
/// to this machine.
int run_bp(std::span<const std::string> arguments);
std::string bp_options();

/// Suite `bk` applies the same kernels to cell vectors. Rates count cells p^3 components, not the entries of cell
/// vectors.
int run_bk(std::span<const std::string> arguments);
std::string bk_options();

} // namespace rafter::bench
