// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/roofline.hpp>

#include <algorithm>
#include <array>
#include <rafter/base/error.hpp>

namespace rafter::machine {
namespace {

double seconds_of(double amount, double per_second, const char* what) {
  if (amount <= 0) return 0;
  if (!(per_second > 0)) throw base::InternalError(std::string("the machine record has no rate of ") + what);
  return amount / per_second;
}

double arithmetic_seconds(const Counts& counts, const Machine& machine, int cores) {
  const double singles = std::max(counts.single_flops, 2 * counts.single_operations);
  const double doubles =
      std::max(counts.flops - counts.single_flops, 2 * (counts.operations - counts.single_operations));
  return seconds_of(doubles, machine.peak_flops(cores), "floating-point operations") +
         seconds_of(singles, machine.single_peak_flops(cores), "floating-point operations on floats");
}

/// Rate of a level in bytes per second for this share of writes, by linear interpolation between the measured shares.
double level_rate(const Level& level, const Machine& machine, int cores, double written_share) {
  const double read = machine.rate(level.read, cores);
  const double copy = std::max(machine.rate(level.copy, cores), machine.rate(level.streaming_copy, cores));
  // A triad with streaming stores was not measured, but its rate lies between those of reading and of copying with
  // them.
  const double triad = std::max(machine.rate(level.triad, cores), std::min(read, copy));
  if (written_share >= 0.5) return copy;
  const bool is_low = written_share < 1.0 / 3;
  const double left = is_low ? 0 : 1.0 / 3, right = is_low ? 1.0 / 3 : 0.5;
  const double t = (written_share - left) / (right - left);
  return is_low ? (1 - t) * read + t * triad : (1 - t) * triad + t * copy;
}

/// Loads and stores run at the same time, so each measured mix gives a rate that loads, and one that stores, reach at
/// least: a triad reads two numbers for each that it writes, a copy one. Interpolation between the mixes would give no
/// bound for others.
double nearest_cache_seconds(double read, double written, const Machine& machine, int cores) {
  if (read + written <= 0) return 0;
  const Level& level = machine.nearest_level();
  const double triad = machine.rate(level.triad, cores) / 3, copy = machine.rate(level.copy, cores) / 2;
  const double reading = std::max({machine.rate(level.read, cores), 2 * triad, copy}), writing = std::max(triad, copy);
  constexpr const char* what = "bytes from the nearest cache";
  return std::max(seconds_of(read, reading, what), seconds_of(written, writing, what));
}

double memory_seconds(double read, double written, const Machine& machine, int cores) {
  const double bytes = read + written;
  if (bytes <= 0) return 0;
  if (machine.levels.size() == 1) return nearest_cache_seconds(read, written, machine, cores);
  return seconds_of(bytes, level_rate(machine.memory(), machine, cores, written / bytes), "bytes from memory");
}

} // namespace

Counts& Counts::operator+=(const Counts& other) {
  flops += other.flops;
  operations += other.operations;
  single_flops += other.single_flops;
  single_operations += other.single_operations;
  effective_flops += other.effective_flops;
  global_bytes_read += other.global_bytes_read;
  global_bytes_written += other.global_bytes_written;
  local_bytes_read += other.local_bytes_read;
  local_bytes_written += other.local_bytes_written;
  least_local_bytes_read += other.least_local_bytes_read;
  least_local_bytes_written += other.least_local_bytes_written;
  return *this;
}

Bound bound(const Counts& counts, const Machine& machine, int cores) {
  const double memory = memory_seconds(counts.global_bytes_read, counts.global_bytes_written, machine, cores);
  const double local =
      nearest_cache_seconds(counts.least_local_bytes_read, counts.least_local_bytes_written, machine, cores);
  const std::array<Bound, 3> bounds{Bound{arithmetic_seconds(counts, machine, cores), "flops"}, Bound{memory, "memory"},
                                    Bound{local, "local memory"}};
  const auto largest = std::ranges::max_element(bounds, {}, &Bound::seconds);
  return largest->seconds > 0 ? *largest : Bound{};
}

Machine resident(const Machine& machine, double bytes, int cores) {
  Machine result = machine;
  for (std::size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    const bool is_last_cache = i + 2 == machine.levels.size();
    const double capacity = static_cast<double>(machine.levels[i].bytes) * (is_last_cache ? 1 : cores);
    if (bytes > capacity) continue;
    result.levels.resize(i + 1);
    break;
  }
  return result;
}

} // namespace rafter::machine
