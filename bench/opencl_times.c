// SPDX-License-Identifier: BSD-3-Clause
// A layer of the OpenCL loader (OPENCL_LAYERS) that measures what a program asks of the driver: OPENCL_TIMES=FILE gets,
// at the end, a table of all functions and kernels with their numbers of calls and their times on the host, and then
// the calls one by one in the order in which they began. With OPENCL_TIMES_WAITS=1 each command ends before the next
// is asked for, so that its time is that of the device with one round trip. That is slower, and shows where it goes.
#define CL_TARGET_OPENCL_VERSION 120
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

enum { most_names = 512, name_length = 64, most_calls = 20000 };

struct Total {
  char name[name_length];
  long calls;
  double seconds, longest;
};
struct Call {
  int name;
  double begin, seconds;
};

static cl_icd_dispatch layer;
static const cl_icd_dispatch* driver;
static struct Total totals[most_names];
static struct Call calls[most_calls];
static int num_names, num_calls, waits;
static double start;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Notes a call that has ended. Those that say so are added up alone: they are too many for a list.
static void note(const char* name, double begin, int is_listed) {
  const double seconds = now() - begin;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < num_names && strncmp(totals[i].name, name, name_length - 1) != 0) ++i;
  if (i == num_names && num_names < most_names) {
    snprintf(totals[i].name, name_length, "%s", name);
    ++num_names;
  }
  if (i < num_names) {
    ++totals[i].calls;
    totals[i].seconds += seconds;
    if (seconds > totals[i].longest) totals[i].longest = seconds;
    if (is_listed && num_calls < most_calls)
      calls[num_calls++] = (struct Call){.name = i, .begin = begin - start, .seconds = seconds};
  }
  pthread_mutex_unlock(&mutex);
}

// Notes a command that was put into a queue, and lets it end before if that was asked for.
static cl_int queued(cl_command_queue queue, const char* name, double begin, cl_int code) {
  if (waits && code == CL_SUCCESS) code = driver->clFinish(queue);
  note(name, begin, 1);
  return code;
}

static cl_int CL_API_CALL on_run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t* first,
                                        const size_t* all, const size_t* items, cl_uint count, const cl_event* events,
                                        cl_event* event) {
  char own[4096] = "?", name[name_length];
  driver->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof own, own, NULL);
  snprintf(name, sizeof name, "kernel %.50s", own);
  const double begin = now();
  return queued(queue, name, begin,
                driver->clEnqueueNDRangeKernel(queue, kernel, dim, first, all, items, count, events, event));
}
static cl_int CL_API_CALL on_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, size_t offset,
                                         size_t bytes, void* to, cl_uint count, const cl_event* events,
                                         cl_event* event) {
  const double begin = now();
  return queued(queue, bytes < 65536 ? "read, below 64 KiB" : "read", begin,
                driver->clEnqueueReadBuffer(queue, buffer, is_blocking, offset, bytes, to, count, events, event));
}
static cl_int CL_API_CALL on_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool is_blocking, size_t offset,
                                          size_t bytes, const void* from, cl_uint count, const cl_event* events,
                                          cl_event* event) {
  const double begin = now();
  return queued(queue, bytes < 65536 ? "write, below 64 KiB" : "write", begin,
                driver->clEnqueueWriteBuffer(queue, buffer, is_blocking, offset, bytes, from, count, events, event));
}
static cl_int CL_API_CALL on_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t length,
                                         size_t offset, size_t bytes, cl_uint count, const cl_event* events,
                                         cl_event* event) {
  const double begin = now();
  return queued(queue, "fill", begin,
                driver->clEnqueueFillBuffer(queue, buffer, pattern, length, offset, bytes, count, events, event));
}
static cl_int CL_API_CALL on_build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                           const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                           void* data) {
  const double begin = now();
  const cl_int code = driver->clBuildProgram(program, count, devices, options, notify, data);
  note("build program", begin, 1);
  return code;
}
static cl_kernel CL_API_CALL on_create_kernel(cl_program program, const char* name, cl_int* code) {
  const double begin = now();
  const cl_kernel kernel = driver->clCreateKernel(program, name, code);
  note("create kernel", begin, 1);
  return kernel;
}
static cl_mem CL_API_CALL on_create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                           cl_int* code) {
  const double begin = now();
  const cl_mem buffer = driver->clCreateBuffer(context, flags, bytes, host, code);
  note("create buffer", begin, 1);
  return buffer;
}
static cl_int CL_API_CALL on_release_buffer(cl_mem buffer) {
  const double begin = now();
  const cl_int code = driver->clReleaseMemObject(buffer);
  note("release buffer", begin, 1);
  return code;
}
static cl_context CL_API_CALL on_create_context(const cl_context_properties* properties, cl_uint count,
                                                const cl_device_id* devices,
                                                void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                                                void* data, cl_int* code) {
  const double begin = now();
  const cl_context context = driver->clCreateContext(properties, count, devices, notify, data, code);
  note("create context", begin, 1);
  return context;
}
static cl_int CL_API_CALL on_flush(cl_command_queue queue) {
  const double begin = now();
  const cl_int code = driver->clFlush(queue);
  note("flush", begin, 1);
  return code;
}
static cl_int CL_API_CALL on_finish(cl_command_queue queue) {
  const double begin = now();
  const cl_int code = driver->clFinish(queue);
  note("finish", begin, 1);
  return code;
}
static cl_int CL_API_CALL on_set_argument(cl_kernel kernel, cl_uint place, size_t size, const void* value) {
  const double begin = now();
  const cl_int code = driver->clSetKernelArg(kernel, place, size, value);
  note("set argument", begin, 0);
  return code;
}

static void write_times(void) {
  const char* const path = getenv("OPENCL_TIMES");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%-62s %9s %12s %12s %12s\n", "what", "calls", "seconds", "mean us", "longest us");
  for (int i = 0; i < num_names; ++i)
    fprintf(file, "%-62s %9ld %12.6f %12.2f %12.2f\n", totals[i].name, totals[i].calls, totals[i].seconds,
            1e6 * totals[i].seconds / (double)totals[i].calls, 1e6 * totals[i].longest);
  fprintf(file, "%-62s %9s %12.6f\n\n", "all of the program since the layer was opened", "", now() - start);
  fprintf(file, "%12s %12s what (the first %d calls)\n", "began us", "took us", most_calls);
  for (int i = 0; i < num_calls; ++i)
    fprintf(file, "%12.1f %12.1f %s\n", 1e6 * calls[i].begin, 1e6 * calls[i].seconds, totals[calls[i].name].name);
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
  layer.clEnqueueNDRangeKernel = on_run_kernel;
  layer.clEnqueueReadBuffer = on_read_buffer;
  layer.clEnqueueWriteBuffer = on_write_buffer;
  layer.clEnqueueFillBuffer = on_fill_buffer;
  layer.clBuildProgram = on_build_program;
  layer.clCreateKernel = on_create_kernel;
  layer.clCreateBuffer = on_create_buffer;
  layer.clReleaseMemObject = on_release_buffer;
  layer.clCreateContext = on_create_context;
  layer.clFlush = on_flush;
  layer.clFinish = on_finish;
  layer.clSetKernelArg = on_set_argument;
  const char* const wanted = getenv("OPENCL_TIMES_WAITS");
  waits = wanted != NULL && strcmp(wanted, "1") == 0;
  start = now();
  *count_of_layer = sizeof layer / sizeof layer.clGetPlatformIDs;
  *dispatch_of_layer = &layer;
  atexit(write_times);
  return CL_SUCCESS;
}
