// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>

namespace rafter::device {

/// The extents of the groups that run a kernel. A group is a number of items, which share memory and wait for each
/// other at barriers: a work-group of OpenCL, a block of CUDA.
struct Launch {
  static constexpr int all_batches = 0;
  std::array<int, 3> items = {1, 1, 1}; ///< items of a group along each axis, the first fastest
  /// Batches that a group takes, of which the last group of a run may have fewer. all_batches: a run has one group.
  int batches = 1;

  int num_items() const { return items[0] * items[1] * items[2]; }
  /// Groups of a run of so many batches.
  std::int64_t num_groups(std::int64_t num_batches) const {
    if (batches == all_batches) return num_batches > 0 ? 1 : 0;
    return (num_batches + batches - 1) / batches;
  }
  /// Says whether groups are the batches of a host, which run in ascending order.
  bool is_of_host() const { return num_items() == 1 && batches == 1; }
  bool operator==(const Launch&) const = default;
};

} // namespace rafter::device
