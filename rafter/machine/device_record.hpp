// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <rafter/device/device.hpp>
#include <rafter/machine/machine.hpp>

namespace rafter::machine {

/// Record of what was measured on a device with memory of its own, by kernels in its language.
struct DeviceRecord {
  /// Ceilings as bounds and cost models take them. The model is the name of the device, the vendor its driver. It has
  /// one core, because a kernel takes the whole device. The levels are registers, where items have their work arrays
  /// and whose rates follow from that of multiply-adds; a cache where one shows; and the memory. The rates of the
  /// latter two are those of whole runs, with their launches.
  Machine machine;
  Level shared; ///< memory that the items of a group share, with a barrier after each access; bytes of a group
  /// What its driver says. Kernels can be generated for the device from the record alone.
  device::Capabilities capabilities;
  double launch_seconds = 0;             ///< time from the start of an empty kernel to its end, as the host sees it
  double bytes_to_device_per_second = 0; ///< copies from the host
  double bytes_to_host_per_second = 0;
  bool operator==(const DeviceRecord&) const = default;
};

inline constexpr const char* shared_name = "shared memory";

/// Text of a record in JSON: that of its machine, with "device" beside its keys. from_json throws InputError that says
/// what is missing or wrong; it also takes an object that holds a record as "machine". Records of older versions lack
/// most capabilities: these are then not known, and the language is OpenCL C.
std::string to_json(const DeviceRecord& record);
DeviceRecord device_record_from_json(const std::string& text);

/// The kept record of a device, by its name and driver; nothing when there is none, or a damaged one.
std::optional<DeviceRecord> load(const device::Capabilities& device);
/// Keeps a record beside that of the host. There is a warning if that is not possible.
void keep(const DeviceRecord& record, const device::Capabilities& device);

} // namespace rafter::machine
