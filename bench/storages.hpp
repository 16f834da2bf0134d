// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Suite `storages` times one operator in four ways, side by side: an assembled matrix (full assembly), stored matrices
/// of cells (element assembly), stored factors at points (partial assembly), and all computed anew.
int run_storages(std::span<const std::string> arguments);
std::string storages_options();

} // namespace rafter::bench
