// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include <rafter/machine/machine.hpp>

/// Ceilings from two rates, for plans and bounds of machines that nobody has measured yet.
namespace rafter::machine {

/// The rates by which machines differ most.
struct TwoRates {
  Rate fma;   ///< fused multiply-adds of doubles with the widest registers, flop/s
  Rate triad; ///< x = y + a z in memory, bytes per second
};

/// A record that has the registers, caches and names of `machine`, whose rates are not read: caches are those of a
/// typical machine in proportion to `fma`, as products of matrices are, and memory to `triad`. Processors of AMD gather
/// lane by lane.
Machine estimated(Machine machine, const TwoRates& rates);

/// Measures both rates of this processor with so many cores (0: all that the process may use), which takes a tenth of a
/// second and no compiler. The record is kept as load_or_probe() keeps its own, beside it. What is kept comes back, and
/// `begins` is called before a measurement.
Machine load_or_estimate(int cores = 0, const std::function<void()>& begins = {});

} // namespace rafter::machine
