// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Suite `storages` times one operator in four ways, side by side. It has an assembled matrix (full assembly), or
/// matrices of cells (element assembly), or factors at points (partial assembly), or computes all anew (matrix-free).
int run_storages(std::span<const std::string> arguments);
std::string storages_options();

} // namespace rafter::bench
