// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <optional>

#include <rafter/machine/device_record.hpp>

/// Times and rates of the integration of cell matrices, as Banas, Kruzel and Bielanski define them.
namespace rafter::bench {

/// What is done for the matrix of one cell. Words are numbers of 8 bytes.
struct IntegrationCounts {
  double operations = 0;                    ///< floating-point operations
  double input_words = 0, output_words = 0; ///< numbers that are read from memory and written there

  constexpr double bytes() const { return 8 * (input_words + output_words); }
};

/// Rates per second of all cores in use, by benchmarks.
struct IntegrationRates {
  double stream_bytes = 0;  ///< triad of STREAM, bytes that its text reads and writes
  double product_flops = 0; ///< product of dense matrices (DGEMM), flop/s; 0: not measured
  double peak_flops = 0;    ///< fused multiply-adds, flop/s
  int cores = 1;
  /// Copies between the host and a device with memory of its own, bytes per second; 0: there are none.
  double bytes_to_device = 0, bytes_to_host = 0;
};
/// Rates of so many threads of the host, and those of a device, whose compute units are its cores.
IntegrationRates rates_of(const machine::Machine& machine, int threads);
IntegrationRates rates_of(const machine::DeviceRecord& record);

/// The paper's estimate of the time of a cell (its table 6) in nanoseconds: the longer one of bytes over the rate of
/// STREAM and operations over that of DGEMM. Nothing where the latter was not measured.
constexpr std::optional<double> estimated_ns(const IntegrationCounts& counts, const IntegrationRates& rates) {
  if (!(rates.product_flops > 0)) return std::nullopt;
  return 1e9 * std::max(counts.bytes() / rates.stream_bytes, counts.operations / rates.product_flops);
}

/// Nanoseconds in which so many words are copied between a host and a device with memory of its own.
constexpr double copy_ns(double words, double bytes_per_second) { return 8e9 * words / bytes_per_second; }

} // namespace rafter::bench
