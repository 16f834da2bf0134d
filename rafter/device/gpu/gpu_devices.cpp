// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/gpu/gpu_devices.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/architecture.hpp>
#include <rafter/device/gpu/gpu_device.hpp>
#include <rafter/device/gpu/gpu_library.hpp>

namespace rafter::device {
namespace {

InstalledGpu described(const GpuLibrary& library, int id) {
  const auto check = [&](int code) { library.check(code, "asking a device"); };
  const auto number = [&](int attribute) {
    int value = 0;
    check(library.get_attribute(&value, attribute, id));
    return value;
  };
  const auto& attributes = library.names->attributes;
  std::array<char, 256> name{};
  check(library.get_name(name.data(), static_cast<int>(name.size()) - 1, id));
  std::size_t memory = 0;
  check(library.get_memory(&memory, id));
  int version = 0;
  check(library.get_version(&version));
  const auto architecture_name = library.names->architecture(library, id);
  const auto known = architecture(architecture_name);
  // Member by member: compilers (GCC 12) destroy twice what an aggregate holds when a later initialiser throws.
  InstalledGpu result;
  result.id = id;
  auto& capabilities = result.capabilities;
  capabilities.description = name.data();
  capabilities.version = std::string(library.names->maker) + " " + version_text(*library.names, version);
  capabilities.architecture = architecture_name;
  capabilities.languages = {library.names->language};
  capabilities.num_compute_units = number(attributes.num_units);
  capabilities.most_items = number(attributes.items_of_group);
  capabilities.sub_group_width = number(attributes.items_in_step);
  capabilities.registers_per_item = known.registers_per_item;
  capabilities.registers_per_unit = number(attributes.registers_of_group);
  capabilities.memory_bytes = capabilities.most_buffer_bytes = memory;
  capabilities.shared_bytes = static_cast<std::size_t>(number(attributes.shared_bytes));
  capabilities.work_bytes_per_item = known.work_bytes_per_item;
  capabilities.matrix_shapes = known.matrix_shapes;
  capabilities.has_atomic_doubles = known.has_atomic_doubles;
  capabilities.has_unified_memory = number(attributes.is_integrated) != 0;
  result.most_resident_items = std::int64_t{capabilities.num_compute_units} * number(attributes.items_of_unit);
  // Drivers reserve the work arrays of all items that the device can hold: a quarter of the memory is what they may
  // have.
  if (result.most_resident_items > 0)
    capabilities.work_bytes_per_item =
        std::min(capabilities.work_bytes_per_item > 0 ? capabilities.work_bytes_per_item : std::int64_t{1} << 30,
                 static_cast<std::int64_t>(memory) / 4 / result.most_resident_items);
  if (!capabilities.has_atomic_doubles)
    result.objection = "its architecture " + capabilities.architecture + " adds no doubles atomically";
  return result;
}

std::string name_of(const GpuLibrary& library, std::size_t number, const InstalledGpu& device) {
  return std::string(library.names->language) + ":" + std::to_string(number) + " ('" + device.capabilities.description +
         "')";
}

/// All of them, in the order in which the driver numbers them.
std::vector<InstalledGpu> installed_gpus(const GpuLibrary& library) {
  constexpr int no_device = 100, invalid_device = 101; // codes of all makers, of which ROCm gives the second
  const int code = library.initialise(0);
  if (code == no_device || code == invalid_device) return {};
  library.check(code, std::string("starting ") + library.names->driver);
  int count = 0;
  library.check(library.count_devices(&count), "looking for devices");
  std::vector<InstalledGpu> result;
  for (int i = 0; i < count; ++i) {
    try {
      int id = 0;
      library.check(library.get_device(&id, i), "looking for devices");
      result.push_back(described(library, id));
    } catch (const base::EnvironmentError& error) { // the others keep their numbers
      auto& lost = result.emplace_back();
      lost.capabilities.description = "a device that does not answer";
      lost.objection = error.what();
    }
  }
  return result;
}

} // namespace

InstalledGpu choose_gpu(const GpuLibrary& library, int number) {
  auto devices = installed_gpus(library);
  const auto maker = std::string(library.names->maker);
  if (number < 0 || number >= static_cast<int>(devices.size())) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < devices.size(); ++i) words.push_back(name_of(library, i, devices[i]));
    throw base::EnvironmentError("there is no " + maker + " device " + std::to_string(number) + "; this machine has " +
                                 (words.empty() ? "none" : base::join(words, "; ")));
  }
  auto device = std::move(devices[static_cast<std::size_t>(number)]);
  if (!device.objection.empty())
    throw base::EnvironmentError("kernels do not run on " + name_of(library, static_cast<std::size_t>(number), device) +
                                 ": " + device.objection);
  return device;
}

std::vector<DeviceDescription> gpu_devices(const GpuMaker& maker) {
  std::vector<DeviceDescription> result;
  for (auto& device : installed_gpus(*gpu_library(maker.driver)))
    result.push_back({std::move(device.capabilities), std::move(device.objection)});
  return result;
}

} // namespace rafter::device
