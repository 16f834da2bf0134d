// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/device.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/report/report.hpp>
#include <rafter/tune/device_probe.hpp>

#include "commands.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace rafter::app {
namespace {

std::string giga(double value) { return fmt::format("{:.1f}", 1e-9 * value); }

std::string size_text(std::int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size >= 1024.0 * 1024 * 1024) return fmt::format("{:.3g} GiB", size / (1024.0 * 1024 * 1024));
  if (size >= 1024.0 * 1024) return fmt::format("{:.3g} MiB", size / (1024.0 * 1024));
  return fmt::format("{:.3g} KiB", size / 1024);
}

std::string peaks_text(const machine::Machine& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& peak : machine.peaks)
    rows.push_back({peak.bits == 64 ? "scalar" : fmt::format("{} bits", peak.bits), giga(peak.fma.one_core),
                    giga(peak.fma.all_cores), giga(peak.add.all_cores), giga(peak.mul.all_cores),
                    giga(peak.single_fma.one_core), giga(peak.single_fma.all_cores)});
  using enum report::Align;
  const std::vector<report::Column> columns{
      {"GFLOP/s", "10^9 operations per second with registers of this width; scalar: one number at a time"},
      {"fma, one core", "fused multiply-adds of doubles, two operations each", right},
      {"fma, all", "the same on all cores", right},
      {"add, all", "additions of doubles", right},
      {"mul, all", "multiplications of doubles", right},
      {"float fma, one core", "fused multiply-adds of floats", right},
      {"float fma, all", "the same on all cores", right}};
  return report::format_table(columns, rows);
}

std::string product_text(const machine::Machine& machine) {
  const auto& rate = machine.matrix_product;
  return fmt::format("products of dense matrices of doubles: {} GFLOP/s on one core, {} on all\n", giga(rate.one_core),
                     giga(rate.all_cores));
}

std::string levels_text(const machine::Machine& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& level : machine.levels)
    rows.push_back({level.name, size_text(level.bytes), giga(level.read.one_core), giga(level.read.all_cores),
                    giga(level.triad.one_core), giga(level.triad.all_cores), giga(level.copy.all_cores),
                    giga(level.streaming_copy.all_cores)});
  using enum report::Align;
  const std::vector<report::Column> columns{
      {"GB/s", "10^9 bytes per second, read and written, with data in this cache or in memory"},
      {"size", "of one such cache; of the memory", right},
      {"read, one core", "s += x", right},
      {"read, all", "the same on all cores", right},
      {"triad, one core", "x = y + a z", right},
      {"triad, all", "the same on all cores", right},
      {"copy, all", "x = y", right},
      {"streaming copy, all", "x = y with stores that pass the caches", right}};
  return report::format_table(columns, rows);
}

std::string gathers_text(const machine::Machine& machine) {
  const auto row = [](const char* way, const machine::Rate& rate) {
    return std::vector<std::string>{way, giga(rate.one_core), giga(rate.all_cores)};
  };
  using enum report::Align;
  const std::vector<report::Column> columns{
      {"10^9 numbers/s", "doubles loaded per second from scattered places of L1, for all lanes of a register"},
      {"one core", "by one core alone", right},
      {"all", "by all cores", right}};
  const std::vector<std::vector<std::string>> rows{row("by one instruction", machine.vector_gather),
                                                   row("one by one", machine.scalar_gather)};
  return report::format_table(columns, rows);
}

std::string device_levels_text(const machine::DeviceRecord& record) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const machine::Level& level) {
    rows.push_back({level.name, level.bytes > 0 ? size_text(level.bytes) : "", giga(level.read.one_core),
                    giga(level.copy.one_core), giga(level.triad.one_core)});
  };
  add(record.shared);
  for (const auto& level : record.machine.levels)
    if (&level != &record.machine.levels.front()) add(level);
  using enum report::Align;
  const std::vector<report::Column> columns{
      {"GB/s",
       "10^9 bytes per second, read and written by all groups; shared memory: with a barrier after each access; "
       "cache: the largest block that was read faster than the memory"},
      {"size", "of a group's shared memory; of the block; of the memory", right},
      {"read", "s += x", right},
      {"copy", "x = y", right},
      {"triad", "x = y + a z", right}};
  return report::format_table(columns, rows);
}

void print_device(const machine::DeviceRecord& record) {
  const auto& machine = record.machine;
  const auto& peak = machine.peaks.front();
  fmt::print("{} ({}), {} compute units{}\n", machine.model, machine.vendor, record.capabilities.num_compute_units,
             record.capabilities.has_unified_memory ? ", its memory is that of the host" : "");
  fmt::print("measured {} (typical runs {:.0f} % of the best)\n", machine.measured_at, 100 * machine.steadiness);
  fmt::print("GFLOP/s: {} fused multiply-adds of doubles, {} of floats; {} additions, {} multiplications of doubles\n",
             giga(peak.fma.one_core), giga(peak.single_fma.one_core), giga(peak.add.one_core), giga(peak.mul.one_core));
  fmt::print("products of dense matrices of doubles: {} GFLOP/s\n", giga(machine.matrix_product.one_core));
  fmt::print("launch of an empty kernel: {:.1f} us; copies: {} GB/s to the device, {} GB/s to the host\n\n{}",
             1e6 * record.launch_seconds, giga(record.bytes_to_device_per_second),
             giga(record.bytes_to_host_per_second), device_levels_text(record));
}

int run_device(const MachineOptions& options) {
  const auto device = device::make_device(options.device);
  if (device->capabilities().description.empty())
    throw base::InputError("machine: --device " + options.device +
                           ": accepted are host, opencl, cuda and hip (opencl:1: the second one)");
  const auto record = tune::load_or_probe(device, {.is_fresh = options.is_fresh});
  if (options.is_json)
    fmt::print("{}\n", base::trimmed(machine::to_json(record)));
  else
    print_device(record);
  return exit_done;
}

} // namespace

int run_machine(const MachineOptions& options) {
  if (options.device != "host") return run_device(options);
  const auto machine = machine::load_or_probe({.is_fresh = options.is_fresh});
  require_not_interrupted();
  if (options.is_json) {
    problem::warn_if_busy(machine);
    fmt::print("{}\n", base::trimmed(machine::to_json(machine)));
    return exit_done;
  }
  fmt::print("{} ({}), {} cores\n", machine.model, machine.vendor, machine.cores);
  fmt::print("measured {}, {} (typical runs {:.0f} % of the best, threads ran {:.0f} % of the time)\n",
             machine.measured_at, machine.is_quiet() ? "quiet" : "BUSY: may be too low", 100 * machine.steadiness,
             100 * machine.cpu_share);
  if (const auto note = machine::shared_cores_note(machine); !note.empty())
    fmt::print("{}\n", report::wrapped("", note));
  fmt::print("{}\n", report::wrapped("vector instructions: ",
                                     base::join(device::vector_instruction_sets(machine.instruction_sets), " ")));
  fmt::print("{}{}\n{}\n{}", peaks_text(machine), product_text(machine), levels_text(machine), gathers_text(machine));
  return exit_done;
}

} // namespace rafter::app
