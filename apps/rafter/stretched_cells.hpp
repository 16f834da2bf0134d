// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/io/problem.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::app {

/// Advice for a solve with multigrid that took so many iterations: where these are many, cells are stretched and a
/// low-order-refined level can be made, its setting; else "".
std::string advice_on_stretched_cells(const io::Problem& problem, const op::System& system, int iterations);

} // namespace rafter::app
