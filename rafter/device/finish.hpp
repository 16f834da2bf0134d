// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// Waits until all that was asked of a device so far has ended, which is what the event of an empty run says: an
/// application is many runs, by objects that do not know each other. What others ask for meanwhile is not waited for.
/// Throws failures that a driver reports with this event; those of earlier runs are with theirs.
inline void finish(Device& device) { device.run({})->wait(); }

/// Returns the function that ends a measurement on this device: finish(), or null for devices whose tasks have ended
/// when run() returns.
inline std::function<void()> finish_of(const std::shared_ptr<Device>& device) {
  if (device->shares_host_memory()) return nullptr;
  return [device] { finish(*device); };
}

} // namespace rafter::device
