// SPDX-License-Identifier: BSD-3-Clause
// A layer of the OpenCL loader (OPENCL_LAYERS) whose functions fail on request, as a driver would whose
// memory is exhausted or whose device is lost. FAILING_OPENCL=NAME:N lets calls of NAME fail from the N-th on, and
// FAILING_OPENCL_CALLS=FILE writes the number of calls of each at the end, as lines "NAME N".
#define CL_TARGET_OPENCL_VERSION 120
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

static cl_icd_dispatch layer;
static const cl_icd_dispatch* driver;

enum Function {
  create_buffer,
  read_buffer,
  write_buffer,
  fill_buffer,
  build_program,
  run_kernel,
  wait_for_events,
  num_functions
};
static const char* const names[num_functions] = {"create_buffer", "read_buffer", "write_buffer",   "fill_buffer",
                                                 "build_program", "run_kernel",  "wait_for_events"};
static long calls[num_functions];

// Counts a call and says whether it fails. Calls of several threads may get one number, which matters to no test.
static int fails(enum Function function) {
  const char* const wanted = getenv("FAILING_OPENCL");
  const size_t length = strlen(names[function]);
  const long number = ++calls[function];
  return wanted != NULL && strncmp(wanted, names[function], length) == 0 && wanted[length] == ':' &&
         number >= atol(wanted + length + 1);
}

static cl_mem CL_API_CALL on_create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                           cl_int* code) {
  if (!fails(create_buffer)) return driver->clCreateBuffer(context, flags, bytes, host, code);
  *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return NULL;
}
static cl_int CL_API_CALL on_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset,
                                         size_t bytes, void* to, cl_uint count, const cl_event* events,
                                         cl_event* event) {
  if (fails(read_buffer)) return CL_DEVICE_NOT_AVAILABLE;
  return driver->clEnqueueReadBuffer(queue, buffer, waits, offset, bytes, to, count, events, event);
}
static cl_int CL_API_CALL on_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset,
                                          size_t bytes, const void* from, cl_uint count, const cl_event* events,
                                          cl_event* event) {
  if (fails(write_buffer)) return CL_OUT_OF_RESOURCES;
  return driver->clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, count, events, event);
}
static cl_int CL_API_CALL on_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t length,
                                         size_t offset, size_t bytes, cl_uint count, const cl_event* events,
                                         cl_event* event) {
  if (fails(fill_buffer)) return CL_OUT_OF_RESOURCES;
  return driver->clEnqueueFillBuffer(queue, buffer, pattern, length, offset, bytes, count, events, event);
}
static cl_int CL_API_CALL on_build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                           const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                           void* data) {
  if (fails(build_program)) return CL_BUILD_PROGRAM_FAILURE;
  return driver->clBuildProgram(program, count, devices, options, notify, data);
}
static cl_int CL_API_CALL on_run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t* first,
                                        const size_t* all, const size_t* items, cl_uint count, const cl_event* events,
                                        cl_event* event) {
  if (fails(run_kernel)) return CL_DEVICE_NOT_AVAILABLE;
  return driver->clEnqueueNDRangeKernel(queue, kernel, dim, first, all, items, count, events, event);
}
// The driver is waited for all the same: a process that ends while its threads still run a kernel crashes.
static cl_int CL_API_CALL on_wait_for_events(cl_uint count, const cl_event* events) {
  const cl_int code = driver->clWaitForEvents(count, events);
  return fails(wait_for_events) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
}

static void write_calls(void) {
  const char* const path = getenv("FAILING_OPENCL_CALLS");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  for (int i = 0; i < num_functions; ++i) fprintf(file, "%s %ld\n", names[i], calls[i]);
  fclose(file);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t room, void* value, size_t* size) {
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (size != NULL) *size = sizeof version;
  if (value == NULL) return CL_SUCCESS;
  if (room < sizeof version) return CL_INVALID_VALUE;
  memcpy(value, &version, sizeof version);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_of_layer,
                                            const cl_icd_dispatch** dispatch_of_layer) {
  if (target == NULL || count_of_layer == NULL || dispatch_of_layer == NULL ||
      count < sizeof layer / sizeof layer.clGetPlatformIDs)
    return CL_INVALID_VALUE;
  driver = target;
  layer = *target;
  layer.clCreateBuffer = on_create_buffer;
  layer.clEnqueueReadBuffer = on_read_buffer;
  layer.clEnqueueWriteBuffer = on_write_buffer;
  layer.clEnqueueFillBuffer = on_fill_buffer;
  layer.clBuildProgram = on_build_program;
  layer.clEnqueueNDRangeKernel = on_run_kernel;
  layer.clWaitForEvents = on_wait_for_events;
  *count_of_layer = sizeof layer / sizeof layer.clGetPlatformIDs;
  *dispatch_of_layer = &layer;
  atexit(write_calls);
  return CL_SUCCESS;
}
