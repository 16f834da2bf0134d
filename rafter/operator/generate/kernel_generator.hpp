// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/operator/generate/kernel_builder.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/kernel_lowering.hpp>
#include <rafter/tune/planner.hpp>

namespace rafter::op {

/// Says whether the kernel is of a form that runs a few times (KernelOptions::runs_few_times).
bool runs_few_times(const KernelSpecification& specification, const KernelOptions& options);
/// Says whether the kernel gets the usual plan where nothing was measured: it is one of facets or of cell matrices, or
/// it runs a few times and no plan was asked for.
bool has_usual_plan(const KernelSpecification& specification, const KernelOptions& options);

/// Says whether measured plans are looked up for the kernel: none was asked for, and it has plans to choose from.
bool may_be_measured(const KernelSpecification& specification, const KernelOptions& options);

/// Says whether the kernel is one of an action that the options want in single precision (KernelOptions::precision).
bool is_single(const KernelSpecification& specification, const KernelOptions& options);

/// Names all that the text of a kernel depends on besides its integrals and the plan: rule, elements, access to
/// vectors. Equal specifications give equal texts.
std::string surroundings_of(const KernelSpecification& specification);

/// Describes a kernel to the planner, and makes the text of the plan that is taken.
class KernelGenerator {
public:
  /// Both must outlive the object.
  KernelGenerator(const KernelSpecification& specification, const KernelOptions& options);

  /// Returns the plan that was measured, for kernels that may_be_measured. If none was, the origin is `predicted` and
  /// the plan says nothing.
  tune::Decision measured() { return planner().known(problem()); }
  /// Decides for the plan that was asked for, the usual one, or the planner's choice. Measured plans of kernels with a
  /// usual one are taken only where all candidates are weighed (PlannerOptions::weighs_all): else measured() has them.
  tune::Decision decide();
  /// Makes the kernel of the plan of a decision. It is called once.
  tune::KernelPrograms generate(const tune::Decision& decision);

private:
  static constexpr std::size_t most_factor_storages = 6; ///< number of factor storages that the planner weighs at most

  const tune::CellKernel& kernel() const { return lowering_.kernel(); }
  bool is_facet() const { return kernel().cell.is_facet(); }
  bool is_matrix() const { return specification_.purpose == Purpose::matrix; }
  const tune::Planner& planner() const { return *options_.planner; }
  int register_width() const;
  int most_patches_per_batch() const; ///< most of any space; 0: all gather cell by cell
  tune::CellKernel with_choices(tune::CellKernel result);
  bool is_too_large(const kernel::CellMatrixSize& size) const;
  void add_setup(const tune::LoweredKernel& main, tune::KernelPrograms& result) const;
  tune::GeneratedProgram generated(const tune::LoweredKernel& lowered, schedule::Plan plan,
                                   const schedule::Plan& packed) const;
  schedule::Plan usual_plan();
  schedule::Plan fitted(schedule::Plan plan) const;
  int usual_width(const schedule::Plan& plan) const;
  schedule::Plan computing_in_double(schedule::Plan plan) const;
  schedule::Plan computing_in_floats(schedule::Plan plan) const;
  schedule::Plan setup_plan(const schedule::Plan& plan, bool runs_again) const;
  bool has_point_loops(const schedule::Plan& plan) const;
  void take_matrix_keys(schedule::Plan& plan);
  void take_item_keys(schedule::Plan& plan) const;
  bool stores_past_caches(const schedule::Plan& plan) const;
  kernel::StoredMatrices matrices_to_store(const kernel::QFunction& function,
                                           const tune::CellSpecification& cell) const;
  void take_quick_flags(schedule::Plan& plan) const;
  kernel::Contraction contraction(kernel::Contraction asked, bool has_facets) const;
  schedule::PlanningProblem problem();
  bool streams_outputs() const;

  const KernelSpecification& specification_;
  const KernelOptions& options_;
  std::string function_text_;
  bool is_too_large_ = false; ///< the kernel computes cell matrices that are too large to be worth it
  bool has_modes_ = false;    ///< says whether the modal contraction applies
  bool is_separable_ = false; ///< says whether the separable contraction applies
  tune::KernelLowering lowering_;
};

} // namespace rafter::op
