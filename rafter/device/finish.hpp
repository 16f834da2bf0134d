// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// Waits until all tasks that were run on a device have ended. Throws what a device tells late of their failures.
inline void finish(Device& device) { device.run({})->wait(); }

/// Returns the function that ends a measurement on this device: finish(), or null for devices whose tasks have ended
/// when run() returns.
inline std::function<void()> finish_of(const std::shared_ptr<Device>& device) {
  if (device->shares_host_memory()) return nullptr;
  return [device] { finish(*device); };
}

} // namespace rafter::device
