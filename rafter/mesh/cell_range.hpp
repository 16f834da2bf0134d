// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace rafter::mesh {

/// Says whether kernels can compute with cells whose Jacobian has columns of these squared lengths, one for each axis.
/// They square and multiply lengths, areas and volumes, and divide by them: where these squares and their inverses lie
/// within a range that leaves room at both ends of doubles, none of that over- or underflows.
inline bool is_computable(std::span<const double> squared) {
  constexpr double largest = 1e250, least = 1 / largest;
  const auto is_in_range = [](double x) { return x >= least && x <= largest; };
  double volume = 1;
  for (std::size_t a = 0; a < squared.size(); ++a) {
    if (!is_in_range(squared[a])) return false;
    if (squared.size() == 3 && !is_in_range(squared[a] * squared[(a + 1) % 3])) return false;
    volume *= std::sqrt(squared[a]);
  }
  return is_in_range(volume);
}

} // namespace rafter::mesh
