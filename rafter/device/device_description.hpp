// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// A device that a driver of this machine has, and whether kernels run on it.
struct DeviceDescription {
  Capabilities capabilities;
  std::string objection; ///< says what the device lacks to run kernels; "": nothing
};

} // namespace rafter::device
