// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/architecture.hpp>
#include <rafter/device/opencl/opencl_device.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

namespace rafter::device {
namespace {

/// Questions to a device.
class Query {
public:
  Query(const OpenClLibrary& library, cl_device_id device) : library_(library), device_(device) {}

  std::string text(cl_device_info what) const {
    std::size_t size = 0;
    check_opencl(library_.get_device_info(device_, what, 0, nullptr, &size), "asking a device");
    std::string result(size, '\0');
    check_opencl(library_.get_device_info(device_, what, size, result.data(), nullptr), "asking a device");
    return result.substr(0, result.find('\0'));
  }
  template <class T> T number(cl_device_info what) const {
    T result{};
    check_opencl(library_.get_device_info(device_, what, sizeof result, &result, nullptr), "asking a device");
    return result;
  }
  std::size_t bytes(cl_device_info what) const { return static_cast<std::size_t>(number<cl_ulong>(what)); }
  bool has_extension(const std::string& name) const {
    return (" " + text(CL_DEVICE_EXTENSIONS) + " ").find(" " + name + " ") != std::string::npos;
  }
  // The makers of graphics processors answer questions of their own.
  bool is_of_nvidia() const { return has_extension("cl_nv_device_attribute_query"); }
  bool is_of_amd() const { return has_extension("cl_amd_device_attribute_query"); }

  /// Number of items that run in step; 1 where no maker gives it.
  int sub_group_width() const {
    constexpr cl_device_info warp_size_of_nvidia = 0x4003, wavefront_width_of_amd = 0x4043;
    if (is_of_nvidia()) return static_cast<int>(number<cl_uint>(warp_size_of_nvidia));
    return is_of_amd() ? static_cast<int>(number<cl_uint>(wavefront_width_of_amd)) : 1;
  }
  /// Registers of a group, which may have all of a compute unit; 0 where no maker gives it.
  int registers_per_unit() const {
    constexpr cl_device_info registers_per_block_of_nvidia = 0x4002;
    return is_of_nvidia() ? static_cast<int>(number<cl_uint>(registers_per_block_of_nvidia)) : 0;
  }
  /// Name under which compilers know the instructions; "" where no maker gives it. The name of AMD's devices is that,
  /// with what is switched on behind colons ("gfx90a:sramecc+:xnack-").
  std::string architecture() const {
    constexpr cl_device_info major_of_nvidia = 0x4000, minor_of_nvidia = 0x4001;
    if (is_of_nvidia())
      return "sm_" + std::to_string(number<cl_uint>(major_of_nvidia)) +
             std::to_string(number<cl_uint>(minor_of_nvidia));
    const auto name = text(CL_DEVICE_NAME);
    return is_of_amd() && name.starts_with("gfx") ? name.substr(0, name.find(':')) : "";
  }

  bool is_processor() const { return (number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0; }
  /// Doubles in a register of a processor, which runs the items of a group one after the other. Graphics processors run
  /// them side by side, also those that report a width.
  int vector_width() const {
    if (!is_processor()) return 1;
    constexpr cl_uint most = 8; // doubles in the widest registers there are
    return static_cast<int>(
        std::bit_floor(std::clamp<cl_uint>(number<cl_uint>(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE), 1, most)));
  }

  /// PoCL generates code when a kernel is first run, for the size of its group, and keeps it. For the bytes of a
  /// program it generates code of all its kernels, which runs do not use.
  bool caches_code() const {
    const auto version = text(CL_DEVICE_VERSION);
    return version.find("PoCL") != std::string::npos || version.find("pocl") != std::string::npos;
  }

private:
  const OpenClLibrary& library_;
  cl_device_id device_;
};

Capabilities capabilities_of(const Query& query) {
  // Member by member: compilers (GCC 12) destroy twice what an aggregate holds when a later initialiser throws.
  Capabilities result;
  result.description = query.text(CL_DEVICE_NAME);
  result.version = query.text(CL_DEVICE_VERSION) + ", driver " + query.text(CL_DRIVER_VERSION);
  result.architecture = query.architecture();
  const auto known = architecture(result.architecture);
  result.languages = {"opencl"};
  result.num_compute_units = static_cast<int>(query.number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
  result.most_items = static_cast<int>(query.number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  result.sub_group_width = query.sub_group_width();
  result.vector_width = query.vector_width();
  result.registers_per_item = known.registers_per_item;
  result.registers_per_unit = query.registers_per_unit();
  result.memory_bytes = query.bytes(CL_DEVICE_GLOBAL_MEM_SIZE);
  result.most_buffer_bytes = query.bytes(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  result.shared_bytes = query.bytes(CL_DEVICE_LOCAL_MEM_SIZE);
  result.work_bytes_per_item = known.work_bytes_per_item;
  result.matrix_shapes = known.matrix_shapes;
  result.is_processor = query.is_processor();
  result.has_doubles = query.has_extension("cl_khr_fp64");
  result.has_atomic_doubles = known.has_atomic_doubles;
  result.has_unified_memory = query.number<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  return result;
}

std::string objection_to(const Query& query) {
  std::vector<std::string> lacks;
  if (!query.has_extension("cl_khr_fp64")) lacks.emplace_back("doubles (cl_khr_fp64)");
  if (!query.has_extension("cl_khr_int64_base_atomics"))
    lacks.emplace_back("atomic operations on 64 bits (cl_khr_int64_base_atomics)");
  if (query.number<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) != CL_TRUE) lacks.emplace_back("a compiler");
  if (!lacks.empty()) return "it lacks " + base::join(lacks, " and ");
  // Batches of kernels have 8 or 16 cells, with an item each, and kernels of vectors have groups of their own.
  constexpr std::size_t fewest_items = 32;
  if (const auto most = query.number<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE); most < fewest_items)
    return "its groups have at most " + std::to_string(most) + " items, and kernels need " +
           std::to_string(fewest_items);
  if (query.number<cl_bool>(CL_DEVICE_AVAILABLE) != CL_TRUE) return "its driver says that it is not available";
  return "";
}

/// Processors come last: the host runs kernels of its own faster.
int rank(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return 0;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? 2 : 1;
}

std::string name_of(std::size_t number, const InstalledDevice& device) {
  return "opencl:" + std::to_string(number) + " ('" + device.capabilities.description + "')";
}

std::string list_of(const std::vector<InstalledDevice>& devices) {
  if (devices.empty())
    return "this machine has none; one that is the processor: ./rafter.sh setup opencl (Debian: pocl-opencl-icd)";
  std::vector<std::string> words;
  for (std::size_t i = 0; i < devices.size(); ++i)
    words.push_back(name_of(i, devices[i]) +
                    (devices[i].objection.empty() ? "" : ", which cannot be used: " + devices[i].objection));
  return "this machine has " + base::join(words, "; ");
}

} // namespace

std::vector<InstalledDevice> installed_devices(const OpenClLibrary& library) {
  cl_uint num_platforms = 0;
  // The loader reports an error where it knows no platform.
  if (library.get_platforms(0, nullptr, &num_platforms) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(num_platforms);
  check_opencl(library.get_platforms(num_platforms, platforms.data(), nullptr), "looking for platforms");
  std::vector<InstalledDevice> result;
  for (auto* const platform : platforms) {
    cl_uint count = 0;
    if (library.get_devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    check_opencl(library.get_devices(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                 "looking for devices");
    for (auto* const device : devices) {
      const Query query(library, device);
      result.push_back({device, query.number<cl_device_type>(CL_DEVICE_TYPE), capabilities_of(query),
                        objection_to(query), query.caches_code()});
    }
  }
  return result;
}

InstalledDevice choose_device(const OpenClLibrary& library, const std::optional<int>& number) {
  const auto devices = installed_devices(library);
  if (number) {
    if (*number < 0 || *number >= static_cast<int>(devices.size()))
      throw base::EnvironmentError("there is no OpenCL device " + std::to_string(*number) + "; " + list_of(devices));
    const auto& device = devices[static_cast<std::size_t>(*number)];
    if (!device.objection.empty())
      throw base::EnvironmentError("kernels do not run on " + name_of(static_cast<std::size_t>(*number), device) +
                                   ": " + device.objection);
    return device;
  }
  const InstalledDevice* best = nullptr;
  for (const auto& device : devices)
    if (device.objection.empty() && (best == nullptr || rank(device.type) < rank(best->type))) best = &device;
  if (best == nullptr) throw base::EnvironmentError("there is no OpenCL device that runs kernels; " + list_of(devices));
  return *best;
}

std::vector<DeviceDescription> opencl_devices() {
  std::vector<DeviceDescription> result;
  for (auto& device : installed_devices(*OpenClLibrary::instance()))
    result.push_back({std::move(device.capabilities), std::move(device.objection)});
  return result;
}

} // namespace rafter::device
