// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <rafter/machine/machine.hpp>

namespace rafter::bench {

/// Returns the rate of other libraries on one core of this machine in million unknowns per second: the entry of a table
/// of bench/data/cpu_peers.json (named by a geometry, it has the best of them), scaled by the peaks. It is empty where
/// no rate is known.
std::optional<double> peer_rate(const std::string& table, const std::string& row, int degree,
                                const machine::Machine& machine);

} // namespace rafter::bench
