// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/device_record.hpp>

#include <filesystem>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/device/host/binary_cache.hpp>
#include <rafter/device/host/cache_entry.hpp>

namespace rafter::machine {
namespace {

std::string hash_of(const device::Capabilities& device) {
  return device::cache_key(
      {RAFTER_VERSION, device.description, device.version, std::to_string(device.num_compute_units)});
}

std::filesystem::path record_file(const std::string& hash) {
  return device::CacheDirectory().path() / ("device-" + hash + ".json");
}

constexpr std::string_view kind = "device";

} // namespace

std::optional<DeviceRecord> load(const device::Capabilities& device) {
  const auto hash = hash_of(device);
  const auto text = device::read_entry(record_file(hash), {kind, hash});
  if (!text) return std::nullopt;
  try {
    auto record = device_record_from_json(*text);
    if (record.machine.model == device.description && record.machine.vendor == device.version) {
      record.capabilities = device; // what its driver says now, which older records do not have
      return record;
    }
  } catch (const base::InputError&) {
    // a record that an earlier fault wrote is measured again
  }
  return std::nullopt;
}

void keep(const DeviceRecord& record, const device::Capabilities& device) {
  try {
    const auto hash = hash_of(device);
    device::write_entry(record_file(hash), {kind, hash}, to_json(record));
  } catch (const base::EnvironmentError& error) {
    base::warn_once(std::string("the record of the device is not kept: ") + error.what());
  }
}

} // namespace rafter::machine
