// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/machine.hpp>

namespace rafter::schedule {
struct PlanningProblem;
} // namespace rafter::schedule

namespace rafter::tune {

struct CostWeights;
struct Estimate;
struct Features;

/// Predicted time of one run over all batches.
struct Prediction {
  double seconds = 0;
  double bound_seconds = 0; ///< time-based roofline of operations and memory, which no run can beat
};

/// Predicts the time from counts, the ceilings of the machine and the weights that belong to its record. A batch
/// computes for
///   C = s (n (sum_f weight_f f + w sum_l spilling_l r_l (loads + stores)) + sum_g weight_g g),
/// with s the seconds of one vector instruction at peak, n the number of registers that the lanes fill, f the features
/// of which each register has its own and g the others, spilling_l the share of the work arrays that cache l does not
/// hold, and r_l how much slower the next level is than the second cache. It moves its bytes to and from the level of
/// memory that holds the whole problem in M seconds, and takes max(C, M) + overlap min(C, M).
Prediction predict(const Features& features, const schedule::PlanningProblem& problem, const machine::Machine& machine,
                   const CostWeights& weights);

/// Predicts the time before lowering, from operations and bytes alone. This is accurate enough to leave out plans that
/// are far from the best.
double predict_roughly(const Estimate& estimate, const schedule::PlanningProblem& problem,
                       const machine::Machine& machine, const CostWeights& weights);

} // namespace rafter::tune
