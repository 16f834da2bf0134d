// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rafter::mesh {

/// Disjoint sets of the numbers from 0 on (union-find). The representative of a set is its smallest number; path
/// halving keeps searches short.
class DisjointSets {
public:
  explicit DisjointSets(std::int32_t size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The smallest number in the set of i.
  std::int32_t find(std::int32_t i) {
    while (at(i) != i) i = at(i) = at(at(i));
    return i;
  }
  void unite(std::int32_t i, std::int32_t j) {
    if (at(i) == at(j)) return; // most often, where neighbours come one after the other
    i = find(i);
    j = find(j);
    if (i < j)
      at(j) = i;
    else
      at(i) = j;
  }

private:
  std::int32_t& at(std::int32_t i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> parent_;
};

} // namespace rafter::mesh
