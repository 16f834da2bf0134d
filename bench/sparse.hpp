// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Suite `sparse` times products of one matrix side by side: compressed rows written by hand, assembled plans of Rafter
/// with both ways to gather, symmetric storage written by hand, and the kernels of cells that a matrix takes the place
/// of. Set-up is not covered: `rafter kernel --plan mapping=assembled` prints its time.
int run_sparse(std::span<const std::string> arguments);
std::string sparse_options();

} // namespace rafter::bench
