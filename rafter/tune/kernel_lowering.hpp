// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/schedule/mapping.hpp>
#include <rafter/tune/planning_problem.hpp>

namespace rafter::tune {

/// What a kernel computes for a cell (or a facet), and where its fields live: all that its plans are lowered from.
struct CellKernel {
  std::vector<kernel::Choice> choices; ///< how its QFunction may be cut, the usual way first
  kernel::ProgramInput program;        ///< of all its fields; without QFunction and contraction
  mesh::MapKind map = mesh::MapKind::affine;
  std::vector<const space::ElementLayout*> spaces; ///< distinct gather patterns
  std::vector<int> input_spaces, output_spaces;    ///< pattern of each field of `program`
  int num_trials = 0;                              ///< of the input fields, which begin with the trial functions
  int cells_per_batch = 8;
  int num_coefficients = 0;       ///< numbers per cell
  double data_rows_per_batch = 1; ///< of the data per cell; less where batches of equal cells share them

  bool is_facet() const { return program.local_facet >= 0; }
  /// Patches of a batch; 0: they are not gathered.
  int patches_per_batch(const space::ElementLayout& layout) const;
  /// The choice of a plan, or the usual one.
  const kernel::Choice& choice_of(const schedule::Plan& plan) const;
  /// Rows of the data per cell that a batch reads: 1, one for itself, also where data fields are stored.
  double rows_per_batch(const schedule::Plan& plan) const;
  /// The fields that `function` reads or writes, and all that a tensor program of it needs.
  kernel::ProgramInput input_of(kernel::QFunction function, kernel::Contraction contraction) const;
};

/// How many numbers set-up stores, per point or per cell.
int num_stored(const kernel::QFunction& setup, kernel::OutputKind kind);

/// A kernel as one plan has it.
struct LoweredKernel {
  kernel::TensorProgram program;
  schedule::LoopProgram loops;
  std::string mapping; ///< that accepted the plan
  // Memory layout of what is stored per point, as LoweringInput.
  schedule::StoredOrder stored_order = schedule::StoredOrder::by_batch;
  int interleave = 0;
};

/// Lowers plans of a kernel. What was lowered is kept, since plans share tensor programs, and differ in the compiler
/// alone.
class KernelLowering final : public PlanLowering {
public:
  explicit KernelLowering(CellKernel kernel) : kernel_(std::move(kernel)) {}

  const CellKernel& kernel() const { return kernel_; }

  Estimate estimate(const schedule::Plan& plan) override;
  /// Throws InputError where the work arrays of a thread are beyond any use.
  PlannedProgram lower(const schedule::Plan& plan) override;

  /// The kernel of the plan that is taken; no other plan is lowered any more.
  LoweredKernel take(const schedule::Plan& plan);
  /// The kernel that computes what `main`, which has plan `plan`, reads as stored; `own_plan`: its own.
  LoweredKernel setup(const schedule::Plan& plan, const schedule::Plan& own_plan, const LoweredKernel& main) const;
  /// Bytes that a batch of a loop program reads besides vectors.
  double data_bytes(const schedule::LoopProgram& loops, const schedule::Plan& plan) const;

private:
  struct Loops {
    schedule::LoopProgram program;
    std::string mapping;
    schedule::StoredOrder stored_order = schedule::StoredOrder::by_batch;
    int interleave = 0;
  };
  schedule::LoweringInput input_of(const kernel::TensorProgram& program, const kernel::QFunction& function) const;
  Loops loops_of(const schedule::LoweringInput& input, schedule::Plan plan) const;
  kernel::TensorProgram& program(const schedule::Plan& plan);
  Loops& loops(const schedule::Plan& plan);
  double starts_per_batch(const schedule::LoopProgram& loops, int space) const;

  CellKernel kernel_;
  std::map<std::pair<kernel::Contraction, kernel::FactorStorage>, kernel::TensorProgram> programs_;
  std::map<std::string, Loops> loops_; ///< by the text of plans without compilation
};

} // namespace rafter::tune
