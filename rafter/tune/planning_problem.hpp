// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/kernel/cut.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/plan.hpp>

/// Which plan a kernel gets: candidates, a cost model, a search by measuring, a store of what was found.
namespace rafter::tune {

/// Rough cost of a plan for one batch, known before it is lowered.
struct Estimate {
  double flops = 0;
  double data_bytes = 0; ///< as PlannedProgram
};

/// What a plan becomes.
struct PlannedProgram {
  schedule::LoopProgram loops;
  double data_bytes = 0; ///< read by a batch besides vectors: maps, nodes, coefficients, stored numbers, index tables
};

/// Lowers the plans of a kernel, as the planner asks for them: few are lowered, and only where nothing was measured.
class PlanLowering {
public:
  virtual ~PlanLowering() = default;
  virtual Estimate estimate(const schedule::Plan& plan) = 0;
  /// Throws InputError for plans that cannot run.
  virtual PlannedProgram lower(const schedule::Plan& plan) = 0;
};

/// All that the planner knows of a kernel before its plans are lowered.
struct PlanningProblem {
  std::string text; ///< canonical: kernels with the same text and the same plan are the same program
  bool is_tensor = false;
  bool has_modes = false;                             ///< modal contraction applies
  bool is_separable = false;                          ///< separable contraction applies
  int num_dofs = 0, num_points = 0;                   ///< of a cell; dofs of the largest field, one component
  int nodes_per_axis = 0, points_per_axis = 0;        ///< tensor cells
  std::vector<kernel::FactorStorage> factor_storages; ///< that make sense, cheapest at first sight first
  std::vector<std::string> compilers{"default"};      ///< that may be tried, the usual one first
  std::vector<std::string> flag_sets{"default"};      ///< the same
  int cells_per_batch = 8;                            ///< cells of a batch
  int register_width = 8;                             ///< numbers that a register holds
  int patches_per_batch = 0; ///< patches of a batch, which plans of as many lanes gather; 0: none
  double num_batches = 0;
  int num_threads = 1;
  bool shares_data = false;     ///< most batches read data per cell that others read, too
  bool streams_outputs = false; ///< every batch has its outputs for itself, and vectors are larger than the caches
  double input_bytes = 0, output_bytes = 0; ///< of vectors that a batch reads and writes, each entry once
};

} // namespace rafter::tune
