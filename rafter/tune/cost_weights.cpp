// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/cost_weights.hpp>

#include <algorithm>
#include <limits>

#include <rafter/machine/device_record.hpp>

namespace rafter::tune {

CostWeights processor_weights() { return {}; }

CostWeights cost_weights(const machine::DeviceRecord& record) {
  const auto& device = record.capabilities;
  if (device.is_processor) return processor_weights();
  constexpr double number_bytes = 8, register_bytes = 4;
  const auto& peak = record.machine.peaks.back();
  const auto& levels = record.machine.levels;
  const double instructions = peak.fma.one_core / 2; // per second
  const auto instructions_of = [&](double bytes, double bytes_per_second) {
    return bytes / bytes_per_second * instructions;
  };
  CostWeights result;
  const bool has_registers = device.registers_per_item > 0 && device.registers_per_unit > 0;
  const double num_units = std::max(1, device.num_compute_units);
  const double items_of_unit =
      has_registers ? static_cast<double>(device.registers_per_unit) / device.registers_per_item : 0;
  constexpr double latency_seconds = 4e-9;
  const double waiting = has_registers ? instructions / num_units * latency_seconds / items_of_unit : 1;
  result.arithmetic =
      std::max(1.0, instructions / std::min(peak.add.one_core, peak.mul.one_core)) * std::max(1.0, waiting);
  result.loads = result.stores = result.gathers = instructions_of(number_bytes, record.shared.read.one_core);
  result.broadcasts = result.index_loads = result.iterations = 1;
  result.scatters = instructions_of(2 * number_bytes, record.machine.memory().copy.one_core);
  result.spilling = instructions_of(number_bytes, levels[std::min<std::size_t>(1, levels.size() - 1)].triad.one_core);
  result.data_share = 0;
  result.overlap = 1;
  // Where registers are not known, everything fits them.
  result.nearest_bytes = device.registers_per_item > 0 ? register_bytes * device.registers_per_item
                                                       : std::numeric_limits<double>::infinity();
  if (has_registers) result.num_work_arrays = num_units * items_of_unit;
  return result;
}

} // namespace rafter::tune
