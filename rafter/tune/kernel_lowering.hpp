// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rafter/kernel/contraction.hpp>
#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/qfunction.hpp>
#include <rafter/kernel/stored_matrices.hpp>
#include <rafter/kernel/tensor_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/point_loops.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/plan_lowering.hpp>

namespace rafter::tune {

/// All of a kernel but its integrands: fields, where their unknowns are, and what else its loops and their cost depend
/// on.
struct CellSpecification {
  kernel::CellFields fields;
  mesh::MapKind map = mesh::MapKind::affine;
  int num_trials = 0;       ///< number of trial functions
  int num_coefficients = 0; ///< numbers per cell of the form
  /// Share of the batches whose cells see their shared entities in the same orientations, and have a pattern. The
  /// others read a list of their dofs where those go by starts of runs.
  double whole_runs_share = 1;

  bool is_facet() const { return !fields.local_facets.empty(); }
  /// Number of patches in a batch; 0 where cells are gathered one by one.
  int patches_per_batch(const space::ElementLayout& layout) const {
    return is_facet() ? 0 : space::patches_per_batch(layout, fields.batches.cells_per_batch);
  }
};
inline auto members(const CellSpecification& value) {
  const auto& [fields, map, num_trials, num_coefficients, whole_runs_share] = value;
  return std::tie(fields, map, num_trials, num_coefficients, whole_runs_share);
}

/// A kernel before lowering: what it computes for a cell (or a facet), and for which target.
struct CellKernel {
  CellSpecification cell;
  std::vector<kernel::Choice> choices; ///< ways to cut the QFunction, the default first
  /// Of cell matrices: coefficients of pairs of functions that are differentiated along physical axes
  /// (Contraction::pointwise). Nothing where this contraction does not apply.
  std::optional<kernel::QFunction> of_derivatives;
  kernel::StoredMatrices matrices; ///< of an action, those that Contraction::cell_matrices stores
  /// Rows of the data per cell divided by batches; below 1 where batches of equal cells share a row.
  double data_rows_per_batch = 1;
  schedule::Target target;

  /// The choice with the plan's storage of factors, or the default choice.
  const kernel::Choice& choice_of(const schedule::Plan& plan) const;
  /// What set-up computes and stores for kernels of the plan; it has no outputs where it stores nothing.
  const kernel::QFunction& setup_of(const schedule::Plan& plan) const;
  int num_stored_per_cell(
      const schedule::Plan& plan) const; ///< numbers that it stores per cell, beside those per point
  /// Rows of the data per cell for each batch: data_rows_per_batch, but 1 where values that depend on data fields are
  /// stored, since these differ between equal cells.
  double rows_per_batch(const schedule::Plan& plan) const;
  /// Input for a tensor program of `function`, with those fields that the function reads or writes.
  kernel::ProgramInput input_of(kernel::QFunction function, kernel::Contraction contraction) const;
};

/// Number of values that set-up stores per point, or per cell.
int num_stored(const kernel::QFunction& setup, kernel::OutputKind kind);

/// A kernel after lowering with one plan.
struct LoweredKernel {
  kernel::TensorProgram program;
  schedule::LoopProgram loops;
  std::string mapping;       ///< name of the mapping that accepted the plan
  std::string schedule_text; ///< text of its schedule
  schedule::StoredOrder stored;
};

/// Lowers plans of a kernel. Results are kept: several plans share a tensor program, and some differ in the compiler
/// alone.
class KernelLowering final : public PlanLowering {
public:
  explicit KernelLowering(CellKernel kernel) : kernel_(std::move(kernel)) {}

  const CellKernel& kernel() const { return kernel_; }

  Estimate estimate(const schedule::Plan& plan) override;
  /// Throws InputError where the work arrays of a thread are too large to be of use.
  PlannedProgram lower(const schedule::Plan& plan) override;

  /// Says whether cell matrices take Contraction::pointwise by themselves (kernel::is_faster), with the other keys of a
  /// plan.
  bool is_faster_by_points(const schedule::Plan& plan);
  /// The same for those that set-up stores for the plan.
  bool stores_faster_by_points(const schedule::Plan& plan) const;

  /// Moves out the kernel of the chosen plan; after this call no plan may be lowered.
  LoweredKernel take(const schedule::Plan& plan);
  /// Set-up kernel for `main`, which was lowered with `plan`: computes the values that `main` reads as stored. It is
  /// lowered with `own_plan`.
  LoweredKernel setup(const schedule::Plan& plan, const schedule::Plan& own_plan, const LoweredKernel& main) const;
  /// Bytes that one batch of a loop program reads besides vectors.
  double data_bytes(const schedule::LoopProgram& loops, const schedule::Plan& plan) const;

private:
  struct Loops {
    schedule::LoopProgram program;
    std::string mapping;
    std::shared_ptr<const schedule::Schedule> schedule;
    schedule::StoredOrder stored;
  };
  Loops loops_of(const schedule::LoweringInput& input, schedule::Plan plan, const schedule::Choice& choice) const;
  kernel::TensorProgram& program(const schedule::Plan& plan);
  Loops& loops(const schedule::Plan& plan);
  double dofs_per_batch(int space) const; ///< those that cells share, cell by cell
  double starts_per_batch(const schedule::LoopProgram& loops, int space) const;

  kernel::ProgramInput program_input(const kernel::QFunction& function, kernel::Contraction contraction) const;
  kernel::TensorProgram setup_program(const schedule::Plan& plan, kernel::Contraction contraction,
                                      schedule::DerivativePlace derivatives) const;

  CellKernel kernel_;
  std::shared_ptr<kernel::DenseTables> tables_ = kernel::make_dense_tables(); ///< shared by all programs of the kernel
  /// By contraction, cut and, with Contraction::pointwise, the place of derivatives.
  std::map<std::tuple<kernel::Contraction, kernel::FactorStorage, schedule::DerivativePlace>, kernel::TensorProgram>
      programs_;
  std::map<std::string, Loops> loops_; ///< key: text of the plan without compiler and flags
};

} // namespace rafter::tune
