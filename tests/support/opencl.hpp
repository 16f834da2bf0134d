// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <rafter/base/error.hpp>
#include <rafter/device/opencl/opencl_device.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

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

/// The functions of the machine's driver, whose version does not say that it is PoCL, so that it is asked for the code
/// of programs as other drivers are.
inline device::OpenClLibrary driver_without_a_name() {
  auto result = *device::OpenClLibrary::instance();
  result.get_device_info = [](cl_device_id id, cl_device_info what, std::size_t room, void* place,
                              std::size_t* needed) -> cl_int {
    const auto code = device::OpenClLibrary::instance()->get_device_info(id, what, room, place, needed);
    if (what == CL_DEVICE_VERSION && place != nullptr)
      std::replace(static_cast<char*>(place), static_cast<char*>(place) + room, 'o', '0');
    return code;
  };
  return result;
}

} // namespace rafter::test
