// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/estimate.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/parallel.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/machine/caches.hpp>
#include <rafter/machine/record_file.hpp>
#include <rafter/machine/two_rates.hpp>
#include <rafter/machine/typical.hpp>

namespace rafter::machine {
namespace {

Rate scaled(const Rate& typical, const Rate& measured, const Rate& of_typical) {
  return {typical.one_core * measured.one_core / of_typical.one_core,
          typical.all_cores * measured.all_cores / of_typical.all_cores};
}

/// Registers, caches and names of this processor.
Machine described(int cores) {
  Machine result;
  const auto& cpu = device::cpu();
  result.model = cpu.model;
  result.vendor = cpu.vendor;
  result.instruction_sets = cpu.instruction_sets;
  result.cores = cores;
  result.peaks = {{.bits = device::register_bits(cpu).back()}};
  for (const auto bytes : cache_sizes())
    result.levels.push_back({.name = fmt::format("L{}", result.levels.size() + 1), .bytes = bytes});
  result.levels.push_back({.name = "memory", .bytes = memory_size().total});
  return result;
}

Machine estimate(int cores) {
  auto machine = described(cores);
  // Most last caches are smaller than a third of this; where it is larger, the rate of the memory is that of the cache.
  constexpr std::int64_t most = std::int64_t{96} << 20;
  const auto last_cache = machine.levels[machine.levels.size() - 2].bytes;
  const auto block = std::max(std::min({most, 3 * last_cache, memory_size().available / 8}), std::int64_t{1} << 20);
  const auto measured = measure_two_rates(cores, machine.peaks.back().bits, block);
  machine = estimated(std::move(machine), measured.rates);
  machine.steadiness = measured.steadiness;
  machine.cpu_share = measured.cpu_share;
  machine.streamed_bytes = block;
  machine.measured_with = "rafter " RAFTER_VERSION ", two rates";
  return machine;
}

} // namespace

Machine estimated(Machine machine, const TwoRates& rates) {
  const auto typical = typical_machine(machine.peaks.back().bits, machine.cores);
  const auto& peak = typical.peaks.front();
  machine.peaks = {peak};
  auto& own = machine.peaks.front();
  for (auto* rate : {&own.add, &own.mul, &own.single_fma}) *rate = scaled(*rate, rates.fma, peak.fma);
  own.fma = rates.fma;
  machine.matrix_product = scaled(typical.matrix_product, rates.fma, peak.fma);
  const auto& memory = typical.memory();
  for (auto& level : machine.levels) {
    const bool is_memory = level.name == memory.name;
    const auto same = std::ranges::find(typical.levels, level.name, &Level::name);
    const auto& like = same != typical.levels.end() ? *same : typical.levels[typical.levels.size() - 2];
    const auto in_proportion = [&](const Rate& rate) {
      return is_memory ? scaled(rate, rates.triad, memory.triad) : scaled(rate, rates.fma, peak.fma);
    };
    level.read = in_proportion(like.read);
    level.triad = in_proportion(like.triad);
    level.copy = in_proportion(like.copy);
    level.streaming_copy = in_proportion(like.streaming_copy);
  }
  const Rate slower{1, 1}, faster{1.5, 1.5};
  const bool is_by_lane = machine.vendor == "AuthenticAMD"; // up to Zen 4
  machine.vector_gather = is_by_lane ? slower : faster;
  machine.scalar_gather = is_by_lane ? faster : slower;
  return machine;
}

Machine load_or_estimate(int cores, const std::function<void()>& begins) {
  if (cores <= 0) cores = base::num_available_cores();
  const device::CacheDirectory directory;
  return kept_or_measured(record_file(directory, "rates", cores), cores, {.begins = begins},
                          [cores] { return estimate(cores); });
}

} // namespace rafter::machine
