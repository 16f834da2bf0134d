// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Runs `rafter bench mesh FILE [--suite NAME] [options]`, which is that suite (bp by default) with --mesh FILE.
int run_mesh(std::span<const std::string> arguments);
std::string mesh_options();

} // namespace rafter::bench
