// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/opencl/opencl_library.hpp>

#include <dlfcn.h>
#include <rafter/base/error.hpp>

namespace rafter::device {
namespace {

template <class Function> void take(Function& function, void* library, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw base::EnvironmentError(std::string("libOpenCL.so.1 has no function ") + name +
                                 ": it is no loader of OpenCL 1.2");
}

OpenClLibrary opened() {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL); // it stays as long as the process
  if (library == nullptr)
    throw base::EnvironmentError(
        "there is no OpenCL here: libOpenCL.so.1 cannot be opened; to get it, and a device that "
        "is the processor: ./rafter.sh setup opencl (Debian: ocl-icd-libopencl1, pocl-opencl-icd)");
  OpenClLibrary result;
  take(result.get_platforms, library, "clGetPlatformIDs");
  take(result.get_devices, library, "clGetDeviceIDs");
  take(result.get_device_info, library, "clGetDeviceInfo");
  take(result.create_context, library, "clCreateContext");
  take(result.release_context, library, "clReleaseContext");
  take(result.create_queue, library, "clCreateCommandQueue");
  take(result.release_queue, library, "clReleaseCommandQueue");
  take(result.flush, library, "clFlush");
  take(result.finish, library, "clFinish");
  take(result.create_buffer, library, "clCreateBuffer");
  take(result.release_buffer, library, "clReleaseMemObject");
  take(result.read_buffer, library, "clEnqueueReadBuffer");
  take(result.write_buffer, library, "clEnqueueWriteBuffer");
  take(result.fill_buffer, library, "clEnqueueFillBuffer");
  take(result.copy_buffer, library, "clEnqueueCopyBuffer");
  take(result.create_program, library, "clCreateProgramWithSource");
  take(result.create_program_from_binary, library, "clCreateProgramWithBinary");
  take(result.build_program, library, "clBuildProgram");
  take(result.get_program_info, library, "clGetProgramInfo");
  take(result.get_build_info, library, "clGetProgramBuildInfo");
  take(result.release_program, library, "clReleaseProgram");
  take(result.create_kernel, library, "clCreateKernel");
  take(result.release_kernel, library, "clReleaseKernel");
  take(result.set_argument, library, "clSetKernelArg");
  take(result.run_kernel, library, "clEnqueueNDRangeKernel");
  take(result.put_marker, library, "clEnqueueMarkerWithWaitList");
  take(result.wait_for_events, library, "clWaitForEvents");
  take(result.get_event_info, library, "clGetEventInfo");
  take(result.release_event, library, "clReleaseEvent");
  return result;
}

/// Words for the codes that users can do something about.
std::string text_of(cl_int code) {
  switch (code) {
  case CL_MEM_OBJECT_ALLOCATION_FAILURE:
  case CL_OUT_OF_RESOURCES:
    return "the memory of the device is exhausted: use a coarser mesh, a lower degree, another device, or --device "
           "host";
  case CL_OUT_OF_HOST_MEMORY:
    return "the memory of the host is exhausted: use a coarser mesh or a lower degree";
  case CL_INVALID_BUFFER_SIZE:
    return "the buffer is larger than the device accepts: use a coarser mesh, a lower degree, or --device host";
  case CL_DEVICE_NOT_AVAILABLE:
  case CL_INVALID_COMMAND_QUEUE:
  case CL_INVALID_CONTEXT:
    return "the device was lost: its driver has stopped, or another program holds it; `rafter doctor` shows whether it "
           "is there, and `--device host` does without it";
  case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    return "it, or a kernel before it, ended with a fault of the device";
  case CL_INVALID_WORK_GROUP_SIZE:
    return "the groups have more items than the device accepts for this kernel";
  default:
    return "OpenCL code " + std::to_string(code);
  }
}

} // namespace

std::shared_ptr<const OpenClLibrary> OpenClLibrary::instance() {
  static const auto library = std::make_shared<const OpenClLibrary>(opened());
  return library;
}

void check_opencl(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw base::EnvironmentError("OpenCL: " + what + " failed: " + text_of(code));
}

} // namespace rafter::device
