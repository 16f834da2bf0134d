// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

/// Suite "axlocal" measures the local operator of Cao, Sun, Zhang, Li, "Towards a higher roofline for matrix-vector
/// multiplication in matrix-free HOSFEM" (tables 2 and 3, figures 8 to 11), with geometric factors stored and
/// recomputed side by side.
namespace rafter::bench {

int run_axlocal(std::span<const std::string> arguments);
std::string axlocal_options();

} // namespace rafter::bench
