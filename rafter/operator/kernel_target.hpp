// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/device/device.hpp>
#include <rafter/emit/c_family.hpp>

namespace rafter::op {

/// What kernels for a device are lowered for: the axes of its language, and how many of its items run in step.
inline schedule::Target target_of(const device::Device& device) {
  auto result = emit::target(device.language());
  if (!result.has_lanes) result.items_in_step = device.capabilities().sub_group_width;
  return result;
}

} // namespace rafter::op
