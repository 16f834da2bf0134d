// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>

namespace rafter::mesh {

/// Position along the Hilbert curve through the lattice {0 .. 2^bits - 1}^n of a point with n = 1, 2 or 3 coordinates;
/// n * bits <= 64. Consecutive positions are neighbours in the lattice, and every aligned subcube of 2^k points a side
/// takes 2^(nk) consecutive positions. Source: C. Hamilton, Compact Hilbert Indices, Dalhousie University CS-2006-07,
/// section 2.
std::uint64_t hilbert_index(std::span<const std::uint32_t> point, int bits);

} // namespace rafter::mesh
