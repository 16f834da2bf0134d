// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/levels/coarsening.hpp>

namespace rafter::problem {

/// Advice for a solve with multigrid on these levels that took so many iterations: where these are many, cells are
/// stretched and a low-order-refined level can be made, its setting; else "".
std::string advice_on_stretched_cells(const op::Coarsening& levels, const op::System& system, int iterations);

} // namespace rafter::problem
