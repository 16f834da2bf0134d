// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {
class Plan;
} // namespace rafter::schedule

/// Choice of a kernel's plan: candidates, a cost model, a search by measuring, and a store of measurements.
namespace rafter::tune {

/// Rough cost of a plan for one batch, known before it is lowered.
struct Estimate {
  double flops = 0;
  double data_bytes = 0; ///< bytes read besides vectors, as in PlannedProgram
};

/// A plan after lowering.
struct PlannedProgram {
  schedule::LoopProgram loops;
  /// Bytes that a batch reads besides vectors: maps, nodes, coefficients, stored numbers, index tables.
  double data_bytes = 0;
};

/// Lowers the plans of a kernel when the planner asks for them. Few plans are lowered, and only where nothing was
/// measured.
class PlanLowering {
public:
  virtual ~PlanLowering() = default;
  virtual Estimate estimate(const schedule::Plan& plan) = 0;
  /// Throws InputError for plans that cannot run.
  virtual PlannedProgram lower(const schedule::Plan& plan) = 0;
};

} // namespace rafter::tune
