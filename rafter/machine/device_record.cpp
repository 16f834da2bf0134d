// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/device_record.hpp>

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/device/host/binary_cache.hpp>
#include <rafter/device/host/cache_entry.hpp>

namespace rafter::machine {
namespace {

using nlohmann::json;

double positive(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value > 0)) // times are divided by it
    throw base::InputError(fmt::format("device record: '{}' is {}; accepted is a positive number", key, value));
  return value;
}

Rate whole(double value) { return {value, value}; }

std::string hash_of(const device::Capabilities& device) {
  return device::cache_key(
      {RAFTER_VERSION, device.description, device.version, std::to_string(device.num_compute_units)});
}

std::filesystem::path record_file(const std::string& hash) {
  return device::CacheDirectory().path() / ("device-" + hash + ".json");
}

constexpr std::string_view kind = "device";

} // namespace

std::string to_json(const DeviceRecord& record) {
  json object = json::parse(to_json(record.machine));
  object["device"] = {{"num_compute_units", record.num_compute_units},
                      {"has_unified_memory", record.has_unified_memory},
                      {"shared_bytes", record.shared.bytes},
                      {"shared_read", record.shared.read.one_core},
                      {"shared_triad", record.shared.triad.one_core},
                      {"shared_copy", record.shared.copy.one_core},
                      {"launch_seconds", record.launch_seconds},
                      {"bytes_to_device_per_second", record.bytes_to_device_per_second},
                      {"bytes_to_host_per_second", record.bytes_to_host_per_second}};
  return base::terminal_json(object.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

DeviceRecord device_record_from_json(const std::string& text) {
  DeviceRecord record;
  record.machine = from_json(text);
  try {
    const json object = json::parse(text).at("device");
    record.num_compute_units = object.at("num_compute_units").get<int>();
    record.has_unified_memory = object.at("has_unified_memory").get<bool>();
    record.shared.name = shared_name;
    record.shared.bytes = object.at("shared_bytes").get<std::int64_t>();
    record.shared.read = whole(positive(object, "shared_read"));
    record.shared.triad = whole(positive(object, "shared_triad"));
    record.shared.copy = record.shared.streaming_copy = whole(positive(object, "shared_copy"));
    record.launch_seconds = positive(object, "launch_seconds");
    record.bytes_to_device_per_second = positive(object, "bytes_to_device_per_second");
    record.bytes_to_host_per_second = positive(object, "bytes_to_host_per_second");
  } catch (const json::exception& error) {
    throw base::InputError(std::string("device record: ") + error.what());
  }
  return record;
}

std::optional<DeviceRecord> load(const device::Capabilities& device) {
  const auto hash = hash_of(device);
  const auto text = device::read_entry(record_file(hash), {kind, hash});
  if (!text) return std::nullopt;
  try {
    auto record = device_record_from_json(*text);
    if (record.machine.model == device.description && record.machine.vendor == device.version) return record;
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
