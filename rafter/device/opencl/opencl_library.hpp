// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// The functions of the OpenCL loader (libOpenCL.so.1), which is opened when they are first needed: programs that run
/// on the host alone do without it. Tests replace entries to see what failures of a driver lead to.
struct OpenClLibrary {
  /// Throws EnvironmentError, which says how to get it, where the loader is missing.
  static std::shared_ptr<const OpenClLibrary> instance();

  decltype(&clGetPlatformIDs) get_platforms = nullptr;
  decltype(&clGetDeviceIDs) get_devices = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clReleaseContext) release_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clReleaseCommandQueue) release_queue = nullptr;
  decltype(&clFlush) flush = nullptr;
  decltype(&clFinish) finish = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clReleaseMemObject) release_buffer = nullptr;
  decltype(&clEnqueueReadBuffer) read_buffer = nullptr;
  decltype(&clEnqueueWriteBuffer) write_buffer = nullptr;
  decltype(&clEnqueueFillBuffer) fill_buffer = nullptr;
  decltype(&clEnqueueCopyBuffer) copy_buffer = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clCreateProgramWithBinary) create_program_from_binary = nullptr;
  decltype(&clBuildProgram) build_program = nullptr;
  decltype(&clGetProgramInfo) get_program_info = nullptr;
  decltype(&clGetProgramBuildInfo) get_build_info = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clSetKernelArg) set_argument = nullptr;
  decltype(&clEnqueueNDRangeKernel) run_kernel = nullptr;
  decltype(&clEnqueueMarkerWithWaitList) put_marker = nullptr;
  decltype(&clWaitForEvents) wait_for_events = nullptr;
  decltype(&clGetEventInfo) get_event_info = nullptr;
  decltype(&clReleaseEvent) release_event = nullptr;
};

/// Throws EnvironmentError, which names what failed and says what to do, unless the code is that of success.
void check_opencl(cl_int code, const std::string& what);

/// A device that a driver of this machine has.
struct InstalledDevice {
  cl_device_id id = nullptr;
  cl_device_type type = 0;
  Capabilities capabilities;
  std::string objection;    ///< says what the device lacks to run kernels; "": nothing
  bool caches_code = false; ///< the driver has a cache of code, and would generate it once more to hand it out
};
/// All of them, in the order in which drivers name them.
std::vector<InstalledDevice> installed_devices(const OpenClLibrary& library);
/// The device of this number (none: the first that runs kernels, processors last). Throws EnvironmentError where there
/// is no such device, or it does not run kernels.
InstalledDevice choose_device(const OpenClLibrary& library, const std::optional<int>& number);

} // namespace rafter::device
