// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <rafter/machine/machine.hpp>

namespace rafter::bench {

/// Rate of other libraries on one core of this machine, million unknowns per second: that of a table of
/// bench/data/cpu_peers.json (a geometry: the best of them), scaled by the peaks. Nothing where none is known.
std::optional<double> peer_rate(const std::string& table, const std::string& row, int degree,
                                const machine::Machine& machine);

} // namespace rafter::bench
