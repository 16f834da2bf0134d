// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::device {

struct GpuLibrary;

/// A graphics processor that a driver of this machine has.
struct InstalledGpu {
  int id = 0; ///< name that the driver gives it
  Capabilities capabilities;
  std::int64_t most_resident_items = 0; ///< items that its compute units hold at a time
  std::string objection;                ///< says what the device lacks to run kernels; "": nothing
};

/// The device of this number. Throws EnvironmentError where there is no such device, or it does not run kernels.
InstalledGpu choose_gpu(const GpuLibrary& library, int number);

} // namespace rafter::device
