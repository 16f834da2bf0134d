// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/typical.hpp>

#include <algorithm>

namespace rafter::machine {

Machine typical_machine(int bits, int cores) {
  Machine result;
  result.model = "typical";
  result.cores = cores;
  constexpr double fma_flops_per_bit = 85e9 / 512;
  constexpr int cores_that_saturate_memory = 8;
  const auto rate = [cores](double value) { return Rate{value, cores * value}; };
  const double fma = fma_flops_per_bit * bits;
  result.peaks = {
      {.bits = bits, .fma = rate(fma), .add = rate(fma / 2), .mul = rate(fma / 2), .single_fma = rate(2 * fma)}};
  // Products reach 0.67 to 0.86 of the multiply-adds of a core of an Intel Xeon with AVX-512 (rafter machine --fresh).
  constexpr double product_share = 0.75;
  result.matrix_product = rate(product_share * fma);
  const auto level = [&](const char* name, std::int64_t bytes, double read, double triad, double copy) {
    return Level{name, bytes, rate(read), rate(triad), rate(copy), rate(copy)};
  };
  result.levels = {level("L1", 48 << 10, 250e9, 180e9, 150e9), level("L2", 2 << 20, 80e9, 60e9, 50e9),
                   level("L3", 32 << 20, 28e9, 22e9, 20e9), level("memory", std::int64_t{64} << 30, 15e9, 14e9, 13e9)};
  auto& memory = result.levels.back();
  for (auto* r : {&memory.read, &memory.triad, &memory.copy, &memory.streaming_copy})
    r->all_cores = std::min(cores, cores_that_saturate_memory) * r->one_core;
  return result;
}

DeviceRecord typical_device(const device::Capabilities& capabilities) {
  const auto rate = [](double value) { return Rate{value, value}; };
  const auto level = [&](const char* name, std::int64_t bytes, double value) {
    return Level{name, bytes, rate(value), rate(value), rate(value), rate(value)};
  };
  DeviceRecord result;
  result.machine.model = capabilities.description;
  result.machine.peaks = {
      {.bits = 64, .fma = rate(31e12), .add = rate(15e12), .mul = rate(15e12), .single_fma = rate(56e12)}};
  result.machine.levels = {level("registers", 0, 490e12), level("memory", std::int64_t{140} << 30, 4e12)};
  result.shared = level(shared_name, static_cast<std::int64_t>(capabilities.shared_bytes), 25e12);
  result.capabilities = capabilities;
  result.launch_seconds = 5e-6;
  result.bytes_to_device_per_second = result.bytes_to_host_per_second = 10e9;
  return result;
}

Machine steady(const Machine& record) {
  if (record.is_quiet()) return record;
  const auto typical = typical_machine(record.peaks.back().bits, record.cores);
  auto result = record;
  result.peaks = typical.peaks;
  for (auto& level : result.levels)
    for (const auto& usual : typical.levels)
      if (usual.name == level.name) {
        const auto bytes = level.bytes;
        level = usual;
        level.bytes = bytes;
      }
  if (record.matrix_product.one_core > 0) result.matrix_product = typical.matrix_product;
  if (record.vector_gather.one_core > 0 && record.scalar_gather.one_core > 0) {
    // A busy machine shows, too, which way is faster; by how much varies.
    const Rate slower{1, 1}, faster{1.5, 1.5};
    const bool is_by_lane = record.gathers_faster_by_lane();
    result.vector_gather = is_by_lane ? slower : faster;
    result.scalar_gather = is_by_lane ? faster : slower;
  }
  return result;
}

} // namespace rafter::machine
