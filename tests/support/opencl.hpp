// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>
#include <rafter/device/opencl/opencl_device.hpp>

namespace rafter::test {

/// Says whether this machine has an OpenCL device. The packages of the tests bring one that is the processor.
inline bool has_opencl() try { return !device::opencl_devices().empty(); } catch (const base::EnvironmentError&) {
  return false;
}

} // namespace rafter::test
