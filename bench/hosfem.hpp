// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

namespace rafter::bench {

/// Suite `hosfem` times conjugate gradients for Poisson and Helmholtz problems of 1 and 3 components on a box or a mesh
/// of hexahedra, with Gauss-Lobatto points at the nodes, as table 5 of Cao et al., Towards a Higher Roofline for
/// Matrix-Vector Multiplication in Matrix-Free HOSFEM. Every kernel is timed with plain and with fused conjugate
/// gradients side by side. Right-hand sides of forms are not covered, nor are preconditioners other than the diagonal.
int run_hosfem(std::span<const std::string> arguments);
std::string hosfem_options();

} // namespace rafter::bench
