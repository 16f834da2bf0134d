// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/kernel/factor_storage.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/schedule/target.hpp>

namespace rafter::schedule {

class Plan;

/// A planning problem is what the planner knows about a kernel before its plans are lowered.
struct PlanningProblem {
  /// Kernels of cell matrices: their usual plan, of which candidates differ in few keys (Key::is_tried_in_matrices).
  /// Others: null.
  std::shared_ptr<const Plan> matrix_plan;
  bool has_point_matrices = false; ///< cell matrices by loops over points and functions are possible
  std::string text;                ///< canonical text: kernels with equal text and equal plan are the same program
  bool is_tensor = false;
  bool has_modes = false;           ///< the modal contraction is possible
  bool is_separable = false;        ///< the separable contraction is possible
  bool has_stored_matrices = false; ///< stored matrices of cells are possible, and worth weighing
  int num_dofs = 0, num_points = 0; ///< numbers per cell; num_dofs counts those of the largest field, one component
  int nodes_per_axis = 0, points_per_axis = 0; ///< numbers along each axis of tensor cells
  /// Ways to store factors that make sense, by ascending rough cost.
  std::vector<kernel::FactorStorage> factor_storages;
  std::vector<std::string> compilers{"default"}; ///< compilers that may be tried, the default first
  std::vector<std::string> flag_sets{"default"}; ///< sets of compiler flags that may be tried, the default first
  std::vector<std::string> gathers{"vector"};    ///< ways to load numbers that lie apart, the usual one first
  std::string scatter = "atomic";                ///< way in which items add to what cells share
  double whole_runs_share = 1;  ///< share of the batches whose cells see their shared entities in the same orientations
  bool has_longer_runs = false; ///< some shared entities have several dofs
  int cells_per_batch = 8;      ///< cells per batch
  int register_width = 8;       ///< numbers in a register
  int patches_per_batch = 0;    ///< patches per batch, gathered by plans with as many lanes; 0: none
  Target target;                ///< target that the kernel is lowered for
  double num_batches = 0;
  int num_threads = 1;
  bool shares_data = false;     ///< most batches read the same data per cell as other batches
  bool streams_outputs = false; ///< every batch has outputs of its own, and vectors are larger than the caches
  double input_bytes = 0, output_bytes = 0; ///< bytes of vectors that a batch reads and writes, each entry once
};

/// Lanes that plans usually have for batches of so many cells and registers of so many doubles.
int usual_width(int cells_per_batch, int register_width, Precision compute = Precision::double_precision);

/// The compiler that keeps vectors of more lanes than a register holds in registers; others pass them through memory.
inline constexpr const char* splitting_compiler = "clang";
/// Says whether so many lanes are more than a register holds. clang keeps the parts of such vectors in registers, while
/// gcc passes them through memory and takes up to five times as long.
bool is_split(const PlanningProblem& problem, int vector_width);
/// Says whether the processor has 16 registers, as those that hold 4 doubles (AVX2) do; most others have 32.
bool has_few_registers(const PlanningProblem& problem);
/// Says whether the arrays of all points, a dozen and more, leave the second cache.
bool has_large_arrays(const PlanningProblem& problem, int vector_width);

} // namespace rafter::schedule
