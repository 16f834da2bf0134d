// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// What `run_bp` accepts, for help texts.
inline constexpr const char* bp_options = "--cases LIST (of bp1 to bp6, elasticity) --degrees LIST --mdofs N --threads "
                                          "N --geometry cartesian|deformed|tetrahedra "
                                          "--plan TEXT --json FILE";

/// Suite `bp`: CEED's bake-off problems and linear elasticity on a cube of hexahedra, global vector to global vector
/// (https://ceed.exascaleproject.org/bps). Options: --cases bp1,bp3,.. --degrees 2,4 --mdofs 3 --threads 1
/// --geometry cartesian|deformed|tetrahedra --plan "..." --json file. Prints a table beside the best peer's figures
/// scaled to this machine; returns an exit code. Not covered: right-hand sides, boundary conditions, preconditioners.
int run_bp(std::span<const std::string> arguments);

} // namespace rafter::bench
