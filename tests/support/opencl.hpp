// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>
#include <rafter/device/opencl/opencl_device.hpp>

namespace rafter::test {

/// Says whether this machine has an OpenCL device. The packages of the tests bring one that is the processor. The
/// thread sanitizer does not see how the threads of its driver wait for each other, so that tests go without it there.
inline bool has_opencl() {
#ifdef __SANITIZE_THREAD__
  return false;
#else
  try {
    return !device::opencl_devices().empty();
  } catch (const base::EnvironmentError&) {
    return false;
  }
#endif
}

} // namespace rafter::test
