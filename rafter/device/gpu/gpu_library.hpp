// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rafter::device {

struct GpuLibrary;

/// Names and numbers in which the drivers of graphics processors of two makers differ, whose functions have the same
/// arguments and codes.
struct GpuNames {
  const char* language; ///< name of the device and of the language of its kernels: "cuda"
  const char* maker;    ///< name in messages: "CUDA"
  const char* driver;   ///< name in messages of what the machine must have: "NVIDIA's driver"
  /// Names of the library of the driver, the ones that are tried first ahead. They have versions where the plain name
  /// is a link that is installed with headers alone.
  std::vector<const char*> libraries;
  int oldest_version; ///< oldest version of the driver that has all functions, as it gives it
  int major_unit,
      minor_unit; ///< a version is a sum of these units, one of each for a step of its first and second number
  struct Functions {
    const char *initialise, *get_version, *count_devices, *get_device, *get_name, *get_memory, *get_attribute,
        *retain_context, *release_context, *set_context, *get_free_memory, *create_stream, *destroy_stream,
        *wait_for_stream, *create_event, *destroy_event, *record_event, *wait_for_event, *allocate, *free,
        *allocate_pinned, *free_pinned, *copy_to_device, *copy_to_host, *copy, *fill, *load_module, *unload_module,
        *get_function, *get_function_attribute, *launch;
    const char *get_error_name, *get_properties; ///< null where there is none
  } functions;
  /// Numbers of the properties of a device.
  struct Attributes {
    int items_of_group, shared_bytes, items_in_step, registers_of_group, num_units, is_integrated, items_of_unit;
  } attributes;
  const char* architecture_prefix; ///< what names of architectures begin with: "sm_"
  /// Name of the architecture of a device under which the compiler knows it.
  std::string (*architecture)(const GpuLibrary& library, int device);
};

/// The functions of the driver of a maker's graphics processors, which is opened when they are first needed, so
/// that programs run on machines without it. Results are codes, 0 for success. Contexts, streams, events, modules and
/// functions are pointers of the driver; addresses of its memory are numbers.
struct GpuLibrary {
  const GpuNames* names = nullptr;
  using Address = std::uintptr_t;

  int (*initialise)(unsigned flags) = nullptr;
  int (*get_version)(int* version) = nullptr;
  int (*count_devices)(int* count) = nullptr;
  int (*get_device)(int* device, int number) = nullptr;
  int (*get_name)(char* text, int size, int device) = nullptr;
  int (*get_memory)(std::size_t* bytes, int device) = nullptr;
  int (*get_attribute)(int* value, int attribute, int device) = nullptr;
  int (*retain_context)(void** context, int device) = nullptr;
  int (*release_context)(int device) = nullptr;
  int (*set_context)(void* context) = nullptr; ///< for the calling thread
  int (*get_free_memory)(std::size_t* free, std::size_t* all) = nullptr;
  int (*create_stream)(void** stream, unsigned flags) = nullptr;
  int (*destroy_stream)(void* stream) = nullptr;
  int (*wait_for_stream)(void* stream) = nullptr;
  int (*create_event)(void** event, unsigned flags) = nullptr;
  int (*destroy_event)(void* event) = nullptr;
  int (*record_event)(void* event, void* stream) = nullptr;
  int (*wait_for_event)(void* event) = nullptr;
  int (*allocate)(Address* address, std::size_t bytes) = nullptr;
  int (*free)(Address address) = nullptr;
  int (*allocate_pinned)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
  int (*free_pinned)(void* memory) = nullptr;
  int (*copy_to_device)(Address to, const void* from, std::size_t bytes, void* stream) = nullptr;
  int (*copy_to_host)(void* to, Address from, std::size_t bytes, void* stream) = nullptr;
  int (*copy)(Address to, Address from, std::size_t bytes, void* stream) = nullptr;
  int (*fill)(Address to, unsigned char value, std::size_t bytes, void* stream) = nullptr;
  int (*load_module)(void** module, const void* code) = nullptr;
  int (*unload_module)(void* module) = nullptr;
  int (*get_function)(void** function, void* module, const char* name) = nullptr;
  int (*get_function_attribute)(int* value, int attribute, void* function) = nullptr;
  int (*launch)(void* function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned items_x,
                unsigned items_y, unsigned items_z, unsigned shared_bytes, void* stream, void** arguments,
                void** extra) = nullptr;
  int (*get_error_name)(int code, const char** name) = nullptr;  ///< null: the driver has no names
  int (*get_properties)(void* properties, int device) = nullptr; ///< null: there is none

  static constexpr int success = 0, out_of_memory = 2; ///< codes of all makers
  static constexpr int local_bytes_of_function = 3;    ///< number of a property of a function, of all makers

  /// Throws EnvironmentError, which names what failed and says what to do, unless the code is that of success.
  void check(int code, const std::string& what) const;
};

/// A version as drivers of a maker give it: "12.4".
std::string version_text(const GpuNames& names, int version);

/// NVIDIA's driver, libcuda.so.1.
const GpuNames& cuda_names();
/// AMD's, by the runtime HIP of ROCm.
const GpuNames& hip_names();

/// The library of a maker. Throws EnvironmentError, which says how to get it, where it is missing or too old.
std::shared_ptr<const GpuLibrary> gpu_library(const GpuNames& names);

} // namespace rafter::device
