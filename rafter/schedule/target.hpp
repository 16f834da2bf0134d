// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <tuple>

namespace rafter::schedule {

/// The target for which kernels are lowered: the axes that the language of a device has. Mappings need one or the
/// other.
struct Target {
  /// Vectors with one number per lane, on a device that runs the batches of a task in ascending order.
  bool has_lanes = true;
  bool has_groups = false; ///< groups of items
  int items_in_step = 32;  ///< number of items that the device runs together: groups of fewer leave it idle
  int lanes_of_item = 1;   ///< doubles that an item computes at a time, in vectors; 1: items are what computes together
  bool operator==(const Target&) const = default;
};
inline auto members(const Target& value) {
  const auto& [has_lanes, has_groups, items_in_step, lanes_of_item] = value;
  return std::tie(has_lanes, has_groups, items_in_step, lanes_of_item);
}

} // namespace rafter::schedule
