// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include <rafter/base/error.hpp>
#include <rafter/device/opencl/opencl_device.hpp>

namespace rafter::test {

/// Says whether tests must find an OpenCL device: RAFTER_NEEDS_OPENCL=1.
inline bool needs_opencl() {
  const char* value = std::getenv("RAFTER_NEEDS_OPENCL");
  return value != nullptr && std::string_view(value) == "1";
}

/// Says whether this machine has an OpenCL device that runs kernels; where it must have one and has none, the test
/// fails. The packages of the tests bring one that is the processor.
inline bool has_opencl() {
  try {
    const device::OpenClDevice device;
    return true;
  } catch (const base::EnvironmentError& error) {
    if (needs_opencl()) ADD_FAILURE() << "RAFTER_NEEDS_OPENCL is 1, but " << error.what();
    return false;
  }
}

} // namespace rafter::test
