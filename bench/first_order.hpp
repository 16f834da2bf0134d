// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Suite `first-order` times the integration of element matrices of first-order elements in all orders of the loops,
/// beside the figures of Banas, Kruzel and Bielanski (Computer Methods in Applied Mechanics and Engineering 305, 2016).
int run_first_order(std::span<const std::string> arguments);
std::string first_order_options();

} // namespace rafter::bench
