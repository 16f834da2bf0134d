// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/device/architecture.hpp>
#include <rafter/machine/device_record.hpp>
#include <rafter/machine/machine.hpp>

/// Texts of records: the one file of the module that reads the JSON library, which takes the compiler half a minute.
namespace rafter::machine {

using nlohmann::json;

namespace {

/// Reads a whole number from 0 to the largest of its type, because the JSON library silently rounds and wraps other
/// values.
template <class Integer> Integer whole_number(const json& object, const char* key) {
  const json& value = object.at(key);
  constexpr auto most = std::numeric_limits<Integer>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most))
    return value.get<Integer>();
  throw base::InputError(fmt::format("machine record: '{}' is {}; accepted is a whole number from 0 to {}", key,
                                     value.is_number() ? value.dump() : value.type_name(), most));
}

/// Widths in bits of the registers for which kernels are made.
constexpr std::array register_sizes{64, 128, 256, 512};

double positive(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value > 0)) // times are divided by it
    throw base::InputError(fmt::format("device record: '{}' is {}; accepted is a positive number", key, value));
  return value;
}

Rate whole(double value) { return {value, value}; }

} // namespace

// The JSON library finds these functions through argument-dependent look-up.
void to_json(json& object, const Rate& rate) { object = {{"one_core", rate.one_core}, {"all_cores", rate.all_cores}}; }
void from_json(const json& object, Rate& rate) {
  for (const auto& [key, value] : {std::pair{"one_core", &rate.one_core}, std::pair{"all_cores", &rate.all_cores}}) {
    *value = object.at(key).get<double>();
    if (!(*value > 0)) // measured rates are positive, and times are divided by them
      throw base::InputError(fmt::format("machine record: '{}' is {}; accepted is a positive number", key, *value));
  }
}
void to_json(json& object, const Peak& peak) {
  object = {
      {"bits", peak.bits}, {"fma", peak.fma}, {"add", peak.add}, {"mul", peak.mul}, {"single_fma", peak.single_fma}};
}
void from_json(const json& object, Peak& peak) {
  peak.bits = whole_number<int>(object, "bits");
  // The number of lanes of kernels follows from it.
  if (std::ranges::find(register_sizes, peak.bits) == register_sizes.end())
    throw base::InputError(
        fmt::format("machine record: 'bits' is {}; accepted are {}", peak.bits, fmt::join(register_sizes, ", ")));
  peak.fma = object.at("fma").get<Rate>();
  peak.add = object.at("add").get<Rate>();
  peak.mul = object.at("mul").get<Rate>();
  if (object.contains("single_fma"))
    peak.single_fma = object.at("single_fma").get<Rate>();
  else {                                              // records of older versions lack it
    const double per_double = peak.bits > 64 ? 2 : 1; // floats in a register for each double
    peak.single_fma = {per_double * peak.fma.one_core, per_double * peak.fma.all_cores};
  }
}
void to_json(json& object, const Level& level) {
  object = {{"name", level.name},   {"bytes", level.bytes}, {"read", level.read},
            {"triad", level.triad}, {"copy", level.copy},   {"streaming_copy", level.streaming_copy}};
}
void from_json(const json& object, Level& level) {
  level.name = object.at("name").get<std::string>();
  level.bytes = whole_number<std::int64_t>(object, "bytes");
  level.read = object.at("read").get<Rate>();
  level.triad = object.at("triad").get<Rate>();
  level.copy = object.at("copy").get<Rate>();
  level.streaming_copy = object.at("streaming_copy").get<Rate>();
}

std::string to_json(const Machine& machine) {
  json object{{"model", machine.model},
              {"vendor", machine.vendor},
              {"cores", machine.cores},
              {"instruction_sets", machine.instruction_sets},
              {"peaks", machine.peaks},
              {"levels", machine.levels},
              {"measured_at", machine.measured_at},
              {"measured_with", machine.measured_with},
              {"streamed_bytes", machine.streamed_bytes},
              {"steadiness", machine.steadiness},
              {"cpu_share", machine.cpu_share}};
  if (machine.vector_gather.one_core > 0 && machine.scalar_gather.one_core > 0) {
    object["vector_gather"] = machine.vector_gather;
    object["scalar_gather"] = machine.scalar_gather;
  }
  if (machine.matrix_product.one_core > 0) object["matrix_product"] = machine.matrix_product;
  return base::terminal_json(object.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

Machine from_json(const std::string& text) {
  Machine machine;
  try {
    const json object = json::parse(text);
    machine.model = object.at("model").get<std::string>();
    machine.vendor = object.at("vendor").get<std::string>();
    machine.cores = whole_number<int>(object, "cores");
    machine.instruction_sets = object.at("instruction_sets").get<std::vector<std::string>>();
    machine.peaks = object.at("peaks").get<std::vector<Peak>>();
    machine.levels = object.at("levels").get<std::vector<Level>>();
    if (object.contains("vector_gather") && object.contains("scalar_gather")) { // records of older versions lack them
      machine.vector_gather = object.at("vector_gather").get<Rate>();
      machine.scalar_gather = object.at("scalar_gather").get<Rate>();
    }
    if (object.contains("matrix_product")) machine.matrix_product = object.at("matrix_product").get<Rate>();
    machine.measured_at = object.at("measured_at").get<std::string>();
    machine.measured_with = object.at("measured_with").get<std::string>();
    machine.streamed_bytes = whole_number<std::int64_t>(object, "streamed_bytes");
    machine.steadiness = object.at("steadiness").get<double>();
    machine.cpu_share = object.at("cpu_share").get<double>();
  } catch (const json::exception& error) {
    throw base::InputError(std::string("machine record: ") + error.what());
  }
  if (machine.cores < 1 || machine.peaks.empty() || machine.levels.empty())
    throw base::InputError("machine record: at least one core, one peak and one level of memory are needed");
  if (!std::ranges::is_sorted(machine.peaks, std::ranges::less_equal(), &Peak::bits))
    throw base::InputError("machine record: 'bits' of the peaks do not ascend");
  return machine;
}

std::string to_json(const DeviceRecord& record) {
  json object = json::parse(to_json(record.machine));
  const auto& device = record.capabilities;
  object["device"] = {{"num_compute_units", device.num_compute_units},
                      {"has_unified_memory", device.has_unified_memory},
                      {"architecture", device.architecture},
                      {"languages", device.languages},
                      {"most_items", device.most_items},
                      {"sub_group_width", device.sub_group_width},
                      {"registers_per_unit", device.registers_per_unit},
                      {"most_buffer_bytes", device.most_buffer_bytes},
                      {"is_processor", device.is_processor},
                      {"shared_bytes", record.shared.bytes},
                      {"shared_read", record.shared.read.one_core},
                      {"shared_triad", record.shared.triad.one_core},
                      {"shared_copy", record.shared.copy.one_core},
                      {"launch_seconds", record.launch_seconds},
                      {"bytes_to_device_per_second", record.bytes_to_device_per_second},
                      {"bytes_to_host_per_second", record.bytes_to_host_per_second}};
  return base::terminal_json(object.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

namespace {

template <class Integer> Integer number_or_unknown(const json& object, const char* key) {
  return object.contains(key) ? whole_number<Integer>(object, key) : 0;
}

/// What a driver says of a device, as far as a record has it, and what follows from the other parts of the record.
device::Capabilities capabilities_of(const json& object, const DeviceRecord& record) {
  const auto& machine = record.machine;
  const int vector_width = machine.peaks.back().bits / register_sizes.front();
  const auto name = object.value("architecture", std::string());
  auto known = device::architecture(name);
  return {.description = machine.model,
          .version = machine.vendor,
          .architecture = name,
          .languages = object.value("languages", std::vector<std::string>{"opencl"}),
          .num_compute_units = whole_number<int>(object, "num_compute_units"),
          .most_items = number_or_unknown<int>(object, "most_items"),
          .sub_group_width = std::max(1, number_or_unknown<int>(object, "sub_group_width")),
          .vector_width = vector_width,
          .registers_per_item = known.registers_per_item,
          .registers_per_unit = number_or_unknown<int>(object, "registers_per_unit"),
          .memory_bytes = static_cast<std::size_t>(machine.memory().bytes),
          .most_buffer_bytes = number_or_unknown<std::size_t>(object, "most_buffer_bytes"),
          .shared_bytes = static_cast<std::size_t>(record.shared.bytes),
          .work_bytes_per_item = known.work_bytes_per_item,
          .matrix_shapes = std::move(known.matrix_shapes),
          .is_processor = object.value("is_processor", vector_width > 1),
          .has_atomic_doubles = known.has_atomic_doubles,
          .has_unified_memory = object.at("has_unified_memory").get<bool>()};
}

} // namespace

DeviceRecord device_record_from_json(const std::string& text) {
  DeviceRecord record;
  try {
    const json given = json::parse(text);
    const json& all = given.is_object() && given.contains("machine") ? given.at("machine") : given;
    record.machine = from_json(all.dump());
    const json& object = all.at("device");
    record.shared.name = shared_name;
    record.shared.bytes = object.at("shared_bytes").get<std::int64_t>();
    record.shared.read = whole(positive(object, "shared_read"));
    record.shared.triad = whole(positive(object, "shared_triad"));
    record.shared.copy = record.shared.streaming_copy = whole(positive(object, "shared_copy"));
    record.launch_seconds = positive(object, "launch_seconds");
    record.bytes_to_device_per_second = positive(object, "bytes_to_device_per_second");
    record.bytes_to_host_per_second = positive(object, "bytes_to_host_per_second");
    record.capabilities = capabilities_of(object, record);
  } catch (const json::exception& error) {
    throw base::InputError(std::string("device record: ") + error.what());
  }
  return record;
}

} // namespace rafter::machine
