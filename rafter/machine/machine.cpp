// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/machine.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/terminal_text.hpp>

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

std::string busy_warning(const Machine& machine) {
  if (machine.is_quiet()) return {};
  return fmt::format(
      "this machine was busy while its ceilings were measured (typical runs reached {:.0f} % of the best "
      "ones, threads ran {:.0f} % of the time): bounds may be too long, and shares of the roofline too "
      "high; `rafter machine --fresh` measures again",
      100 * machine.steadiness, 100 * machine.cpu_share);
}

double Machine::rate(const Rate& measured, int num_cores) const {
  if (num_cores <= 1 || cores <= 1) return measured.one_core;
  const double share = std::min(1.0, (num_cores - 1.0) / (cores - 1.0));
  return measured.one_core + share * (measured.all_cores - measured.one_core);
}

double Machine::peak_flops(int num_cores) const {
  double best = 0;
  for (const auto& peak : peaks) best = std::max(best, rate(peak.fma, num_cores));
  return best;
}

double Machine::single_peak_flops(int num_cores) const {
  double best = 0;
  for (const auto& peak : peaks) best = std::max(best, rate(peak.single_fma, num_cores));
  return best;
}

bool Machine::gathers_faster_by_lane() const {
  constexpr double least_gain = 1.05;
  return scalar_gather.one_core > least_gain * vector_gather.one_core;
}

const Level& Machine::nearest_level() const {
  if (levels.empty()) throw base::InternalError("a machine record without levels of memory");
  return levels.front();
}

const Level& Machine::memory() const {
  if (levels.empty()) throw base::InternalError("a machine record without levels of memory");
  return levels.back();
}

} // namespace rafter::machine
