// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/machine.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::machine {

std::string shared_cores_note(const Machine& machine) {
  constexpr double least = 0.75; // quiet cores that nobody shares reach 0.9 and more
  const double computing = machine.computing_cores();
  if (computing >= least * machine.cores) return "";
  return fmt::format(
      "{} threads compute like {:.1f} cores: they share cores, or others used them; two threads are then "
      "not twice as fast as one",
      machine.cores, computing);
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
