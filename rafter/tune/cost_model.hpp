// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/machine.hpp>
#include <rafter/tune/features.hpp>

namespace rafter::tune {

/// Seconds of one run over all batches.
struct Prediction {
  double seconds = 0;
  double bound_seconds = 0; ///< time-based roofline of operations and memory: no run is faster
};

/// Prediction from counts and the machine's ceilings. A batch computes for
///   C = s (sum_f weight_f f + w sum_l spilling_l r_l (loads + stores)),  s = seconds of one vector instruction at
///   peak,
/// spilling_l = the share of the work arrays that cache l does not hold, r_l = how much slower the next one is than the
/// second cache, and moves its bytes to and from the
/// level of memory that holds the whole problem in M seconds; it takes max(C, M) + overlap min(C, M).
Prediction predict(const Features& features, const PlanningProblem& problem, const machine::Machine& machine);

/// The same before lowering, from operations and bytes alone: good enough to leave out what is far off.
double predict_roughly(const Estimate& estimate, const PlanningProblem& problem, const machine::Machine& machine);

/// Ceilings of servers as of 2023 with registers of `bits`: for choices without a measured record.
machine::Machine typical_machine(int bits = 512, int cores = 1);

/// A record that plans can be predicted with: one that was measured on a busy machine keeps its sizes and gets typical
/// rates, so that predicted plans do not change from run to run with what else the machine does.
machine::Machine steady(const machine::Machine& record);

} // namespace rafter::tune
