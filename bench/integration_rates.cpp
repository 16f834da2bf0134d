// SPDX-License-Identifier: BSD-3-Clause
#include <bench/integration_rates.hpp>

namespace rafter::bench {

IntegrationRates rates_of(const machine::Machine& machine, int threads) {
  return {.stream_bytes = machine.rate(machine.memory().triad, threads),
          .product_flops = machine.rate(machine.matrix_product, threads),
          .peak_flops = machine.peak_flops(threads),
          .cores = threads};
}

IntegrationRates rates_of(const machine::DeviceRecord& record) {
  auto result = rates_of(record.machine, 1);
  result.cores = std::max(1, record.capabilities.num_compute_units);
  if (!record.capabilities.has_unified_memory) {
    result.bytes_to_device = record.bytes_to_device_per_second;
    result.bytes_to_host = record.bytes_to_host_per_second;
  }
  return result;
}

} // namespace rafter::bench
