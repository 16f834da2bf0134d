// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/gpu/gpu_library.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>

#include <dlfcn.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::device {
namespace {

/// What the loader said of a library, unless that is that there is none.
std::string loader_objection(const std::string& name) {
  const char* const text = dlerror();
  const std::string said = text == nullptr ? "" : text;
  return said.starts_with(name + ": cannot open shared object file: No such file") ? "" : said;
}

/// The library by the first of its names that can be opened; it stays as long as the process.
void* open_library(const GpuNames& names) {
  std::string objection; // what is wrong with a library that is there
  for (const auto* name : names.libraries) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (objection.empty()) objection = loader_objection(name);
  }
  if (!objection.empty())
    throw base::EnvironmentError(std::string(names.maker) + ": " + names.driver + " cannot be loaded: " + objection);
  const std::vector<std::string> tried(names.libraries.begin(), names.libraries.end());
  throw base::EnvironmentError(std::string("there is no ") + names.maker + " here: " + base::join(tried, ", ") +
                               " cannot be opened, which comes with " + names.driver +
                               "; `--device host` does without it, docs/devices.md says how to get it");
}

GpuLibrary opened(const GpuNames& names) {
  void* const library = open_library(names);
  GpuLibrary result{.names = &names};
  const auto take_if_there = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  const auto take = [&](auto& function, const char* name) {
    take_if_there(function, name);
    if (function == nullptr)
      throw base::EnvironmentError(std::string(names.maker) + ": " + names.driver + " is too old: it has no function " +
                                   name + "; docs/devices.md says which versions work");
  };
  const auto& of = names.functions;
  take(result.get_version, of.get_version);
  if (int version = 0; result.get_version(&version) == GpuLibrary::success && version < names.oldest_version)
    throw base::EnvironmentError(std::string(names.maker) + ": " + names.driver + " is too old: it serves version " +
                                 version_text(names, version) + ", and " + version_text(names, names.oldest_version) +
                                 " or newer is needed");
  take(result.initialise, of.initialise);
  take(result.count_devices, of.count_devices);
  take(result.get_device, of.get_device);
  take(result.get_name, of.get_name);
  take(result.get_memory, of.get_memory);
  take(result.get_attribute, of.get_attribute);
  take(result.retain_context, of.retain_context);
  take(result.release_context, of.release_context);
  take(result.set_context, of.set_context);
  take(result.get_free_memory, of.get_free_memory);
  take(result.create_stream, of.create_stream);
  take(result.destroy_stream, of.destroy_stream);
  take(result.wait_for_stream, of.wait_for_stream);
  take(result.create_event, of.create_event);
  take(result.destroy_event, of.destroy_event);
  take(result.record_event, of.record_event);
  take(result.wait_for_event, of.wait_for_event);
  take(result.allocate, of.allocate);
  take(result.free, of.free);
  take(result.allocate_pinned, of.allocate_pinned);
  take(result.free_pinned, of.free_pinned);
  take(result.copy_to_device, of.copy_to_device);
  take(result.copy_to_host, of.copy_to_host);
  take(result.copy, of.copy);
  take(result.fill, of.fill);
  take(result.load_module, of.load_module);
  take(result.unload_module, of.unload_module);
  take(result.get_function, of.get_function);
  take(result.get_function_attribute, of.get_function_attribute);
  take(result.launch, of.launch);
  if (of.get_error_name != nullptr) take_if_there(result.get_error_name, of.get_error_name);
  if (of.get_properties != nullptr) take_if_there(result.get_properties, of.get_properties);
  return result;
}

/// Words for the codes that users can do something about; makers share the codes. "": none.
std::string text_of(int code) {
  switch (code) {
  case GpuLibrary::out_of_memory:
    return "the memory of the device is exhausted: use a coarser mesh, a lower degree, another device, or --device "
           "host";
  case 100: // no device
    return "this machine has no such device, or none is visible (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES)";
  case 46: // devices are busy
    return "the device is busy or its mode lets one process use it: `nvidia-smi` shows which";
  case 200: // invalid image
  case 209: // no binary for this device
  case 218: // invalid intermediate text
  case 222: // version of the intermediate text
    return "the driver does not accept the code of the compiler: the compiler is newer than the driver, or made code "
           "for another device";
  case 701: // launch out of resources
    return "a group needs more registers or memory than the device has";
  case 700: // illegal address
  case 710: // a kernel asserted
  case 714: // fault of the stack
  case 715: // illegal instruction
  case 716: // misaligned address
  case 717: // address of another space
  case 718: // invalid place in the program
  case 719: // launch failure
    return "it, or a kernel before it, ended with a fault of the device, which this process cannot use any more";
  case 702: // launch timeout
    return "it, or a kernel before it, took longer than the driver lets kernels run on a device that draws a screen";
  case 34: // a library for linking alone
    return "the library is a stub of the toolkit: the driver's own must come first on the loader's path "
           "(LD_LIBRARY_PATH)";
  case 802: // the system is not ready
    return "the driver waits for a service of the system: on machines whose devices are joined by a switch "
           "nvidia-fabricmanager must run";
  case 803: // versions of the driver's parts
  case 804: // forward compatibility
    return "the parts of the driver do not fit each other: after an update the machine must be started anew";
  case 214: // uncorrectable error of the memory
  case 999: // unknown
    return "the device was lost: its driver has stopped, or its memory has failed; `rafter doctor` shows whether it is "
           "there, and `--device host` does without it";
  default:
    return "";
  }
}

} // namespace

std::string version_text(const GpuNames& names, int version) {
  return std::to_string(version / names.major_unit) + "." +
         std::to_string(version % names.major_unit / names.minor_unit);
}

void GpuLibrary::check(int code, const std::string& what) const {
  if (code == success) return;
  const char* name = nullptr;
  std::string number = "code " + std::to_string(code);
  if (get_error_name != nullptr && get_error_name(code, &name) == success && name != nullptr)
    number += std::string(", ") + name;
  const auto text = text_of(code);
  throw base::EnvironmentError(std::string(names->maker) + ": " + what +
                               " failed: " + (text.empty() ? number : text + " (" + number + ")"));
}

namespace {

std::string architecture_of_nvidia(const GpuLibrary& library, int device) {
  constexpr int major = 75, minor = 76; // numbers of properties
  std::string result = library.names->architecture_prefix;
  for (const int part : {major, minor}) {
    int value = 0;
    library.check(library.get_attribute(&value, part, device), "asking a device");
    result += std::to_string(value);
  }
  return result;
}

} // namespace

const GpuNames& cuda_names() {
  static const GpuNames names{.language = "cuda",
                              .maker = "CUDA",
                              .driver = "NVIDIA's driver",
                              .libraries = {"libcuda.so.1"},
                              .oldest_version = 12000,
                              .major_unit = 1000,
                              .minor_unit = 10,
                              .functions = {.initialise = "cuInit",
                                            .get_version = "cuDriverGetVersion",
                                            .count_devices = "cuDeviceGetCount",
                                            .get_device = "cuDeviceGet",
                                            .get_name = "cuDeviceGetName",
                                            .get_memory = "cuDeviceTotalMem_v2",
                                            .get_attribute = "cuDeviceGetAttribute",
                                            .retain_context = "cuDevicePrimaryCtxRetain",
                                            .release_context = "cuDevicePrimaryCtxRelease_v2",
                                            .set_context = "cuCtxSetCurrent",
                                            .get_free_memory = "cuMemGetInfo_v2",
                                            .create_stream = "cuStreamCreate",
                                            .destroy_stream = "cuStreamDestroy_v2",
                                            .wait_for_stream = "cuStreamSynchronize",
                                            .create_event = "cuEventCreate",
                                            .destroy_event = "cuEventDestroy_v2",
                                            .record_event = "cuEventRecord",
                                            .wait_for_event = "cuEventSynchronize",
                                            .allocate = "cuMemAlloc_v2",
                                            .free = "cuMemFree_v2",
                                            .allocate_pinned = "cuMemHostAlloc",
                                            .free_pinned = "cuMemFreeHost",
                                            .copy_to_device = "cuMemcpyHtoDAsync_v2",
                                            .copy_to_host = "cuMemcpyDtoHAsync_v2",
                                            .copy = "cuMemcpyDtoDAsync_v2",
                                            .fill = "cuMemsetD8Async",
                                            .load_module = "cuModuleLoadData",
                                            .unload_module = "cuModuleUnload",
                                            .get_function = "cuModuleGetFunction",
                                            .get_function_attribute = "cuFuncGetAttribute",
                                            .launch = "cuLaunchKernel",
                                            .get_error_name = "cuGetErrorName",
                                            .get_properties = nullptr},
                              .attributes = {.items_of_group = 1,
                                             .shared_bytes = 8,
                                             .items_in_step = 10,
                                             .registers_of_group = 12,
                                             .num_units = 16,
                                             .is_integrated = 18,
                                             .items_of_unit = 39},
                              .architecture_prefix = "sm_",
                              .architecture = architecture_of_nvidia};
  return names;
}

namespace {

/// The name is one of the properties of a device, a structure whose layout differs from version to version: it is the
/// only text in it that begins so.
std::string architecture_of_amd(const GpuLibrary& library, int device) {
  if (library.get_properties == nullptr) return "";
  std::array<char, std::size_t{1} << 14> properties{}; // structures have about 1500 bytes
  library.check(library.get_properties(properties.data(), device), "asking a device");
  const std::string_view begin = library.names->architecture_prefix;
  const auto found = std::search(properties.begin(), properties.end(), begin.begin(), begin.end());
  const std::string name(found, std::find(found, properties.end(), '\0'));
  return name.substr(0, name.find(':')); // what is switched on stands behind colons
}

} // namespace

const GpuNames& hip_names() {
  static const GpuNames names{.language = "hip",
                              .maker = "HIP",
                              .driver = "ROCm",
                              .libraries = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
                              .oldest_version = 50000000,
                              .major_unit = 10000000,
                              .minor_unit = 100000,
                              .functions = {.initialise = "hipInit",
                                            .get_version = "hipDriverGetVersion",
                                            .count_devices = "hipGetDeviceCount",
                                            .get_device = "hipDeviceGet",
                                            .get_name = "hipDeviceGetName",
                                            .get_memory = "hipDeviceTotalMem",
                                            .get_attribute = "hipDeviceGetAttribute",
                                            .retain_context = "hipDevicePrimaryCtxRetain",
                                            .release_context = "hipDevicePrimaryCtxRelease",
                                            .set_context = "hipCtxSetCurrent",
                                            .get_free_memory = "hipMemGetInfo",
                                            .create_stream = "hipStreamCreateWithFlags",
                                            .destroy_stream = "hipStreamDestroy",
                                            .wait_for_stream = "hipStreamSynchronize",
                                            .create_event = "hipEventCreateWithFlags",
                                            .destroy_event = "hipEventDestroy",
                                            .record_event = "hipEventRecord",
                                            .wait_for_event = "hipEventSynchronize",
                                            .allocate = "hipMalloc",
                                            .free = "hipFree",
                                            .allocate_pinned = "hipHostMalloc",
                                            .free_pinned = "hipHostFree",
                                            .copy_to_device = "hipMemcpyHtoDAsync",
                                            .copy_to_host = "hipMemcpyDtoHAsync",
                                            .copy = "hipMemcpyDtoDAsync",
                                            .fill = "hipMemsetD8Async",
                                            .load_module = "hipModuleLoadData",
                                            .unload_module = "hipModuleUnload",
                                            .get_function = "hipModuleGetFunction",
                                            .get_function_attribute = "hipFuncGetAttribute",
                                            .launch = "hipModuleLaunchKernel",
                                            .get_error_name = "hipDrvGetErrorName",
                                            .get_properties = "hipGetDeviceProperties"},
                              .attributes = {.items_of_group = 56,
                                             .shared_bytes = 74,
                                             .items_in_step = 87,
                                             .registers_of_group = 71,
                                             .num_units = 63,
                                             .is_integrated = 16,
                                             .items_of_unit = 57},
                              .architecture_prefix = "gfx",
                              .architecture = architecture_of_amd};
  return names;
}

std::shared_ptr<const GpuLibrary> gpu_library(const GpuNames& names) {
  static std::mutex mutex;
  static std::map<const GpuNames*, std::shared_ptr<const GpuLibrary>> libraries;
  const std::lock_guard lock(mutex);
  auto& library = libraries[&names];
  if (library == nullptr) library = std::make_shared<const GpuLibrary>(opened(names));
  return library;
}

} // namespace rafter::device
