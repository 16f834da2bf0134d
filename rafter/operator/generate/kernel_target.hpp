// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>

#include <rafter/device/device.hpp>
#include <rafter/emit/c_family.hpp>

namespace rafter::op {

/// Returns what kernels for a device are lowered for: the axes of its language, how many of its items run in step,
/// which are never more than a group may have, and how many doubles an item computes at a time.
inline schedule::Target target_of(const device::Device& device) {
  auto result = emit::target(device.language());
  if (result.has_lanes) return result;
  const auto capabilities = device.capabilities();
  result.items_in_step = std::min(capabilities.sub_group_width, capabilities.most_items);
  result.lanes_of_item = capabilities.vector_width;
  return result;
}

} // namespace rafter::op
