// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace rafter::device {

/// The functions of the OpenCL loader (libOpenCL.so.1), which is opened when they are first needed: programs that run
/// on the host alone do without it.
struct OpenClLibrary {
  /// Throws EnvironmentError, which says how to get it, where the loader is missing.
  static const OpenClLibrary& instance();

  decltype(&clGetPlatformIDs) get_platforms = nullptr;
  decltype(&clGetDeviceIDs) get_devices = nullptr;
  decltype(&clGetDeviceInfo) get_device_info = nullptr;
  decltype(&clCreateContext) create_context = nullptr;
  decltype(&clReleaseContext) release_context = nullptr;
  decltype(&clCreateCommandQueue) create_queue = nullptr;
  decltype(&clReleaseCommandQueue) release_queue = nullptr;
  decltype(&clFinish) finish = nullptr;
  decltype(&clCreateBuffer) create_buffer = nullptr;
  decltype(&clReleaseMemObject) release_buffer = nullptr;
  decltype(&clEnqueueReadBuffer) read_buffer = nullptr;
  decltype(&clEnqueueWriteBuffer) write_buffer = nullptr;
  decltype(&clEnqueueFillBuffer) fill_buffer = nullptr;
  decltype(&clCreateProgramWithSource) create_program = nullptr;
  decltype(&clBuildProgram) build_program = nullptr;
  decltype(&clGetProgramBuildInfo) get_build_info = nullptr;
  decltype(&clReleaseProgram) release_program = nullptr;
  decltype(&clCreateKernel) create_kernel = nullptr;
  decltype(&clReleaseKernel) release_kernel = nullptr;
  decltype(&clSetKernelArg) set_argument = nullptr;
  decltype(&clEnqueueNDRangeKernel) run_kernel = nullptr;
};

/// Throws EnvironmentError, naming what failed, unless the code is that of success.
void check_opencl(cl_int code, const std::string& what);

} // namespace rafter::device
