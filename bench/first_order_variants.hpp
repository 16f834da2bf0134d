// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace rafter::bench {

/// A way in which matrices of cells are computed: keys of its plan.
struct IntegrationVariant {
  std::string order, derivatives;
  std::string items{}; ///< keys of cells in the items of groups; "": those of the usual plan
  std::string plan() const;
};

/// All orders of the loops, and tables of products.
std::vector<IntegrationVariant> loop_variants();
/// Each order of the loops with cells in items: usual groups, other sizes of these, and the ways to read and write with
/// each array that shared memory may hold.
std::vector<IntegrationVariant> item_variants();

} // namespace rafter::bench
