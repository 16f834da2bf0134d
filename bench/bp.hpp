// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// CEED's bake-off problems and kernels (https://ceed.exascaleproject.org/bps), a Helmholtz operator and linear
/// elasticity over degree and size, on a square or cube of cells of any shape. Not covered: right-hand sides, boundary
/// conditions, preconditioners.
namespace rafter::bench {

/// Suite `bp`: global vector to global vector, beside the best figures of other libraries, scaled to this machine.
int run_bp(std::span<const std::string> arguments);
std::string bp_options();

/// Suite `bk`: the same kernels from cell vector to cell vector. Rates count cells p^3 components, not the entries of
/// cell vectors.
int run_bk(std::span<const std::string> arguments);
std::string bk_options();

} // namespace rafter::bench
