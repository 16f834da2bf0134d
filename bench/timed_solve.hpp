// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bench/report.hpp>
#include <bench/timed_operator.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/levels/auxiliary_operator.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/solve/solver.hpp>

/// Suites of solvers time whole solves, phase by phase, with the applications of the operators of all levels.
namespace rafter::bench {

/// A linear problem with one field u, on the finest of some meshes.
struct SolveProblem {
  std::shared_ptr<const mesh::Generations> meshes;
  int degree = 1, components = 0;              ///< degree and components of u; no components: a scalar
  std::string form, load;                      ///< texts in u, v and the names that `add_names` adds
  std::function<void(form::Scope&)> add_names; ///< may be empty
  std::vector<std::int32_t> fixed_tags;        ///< parts of the boundary where u = 0; empty: all of it
  op::QuadratureOptions quadrature;
};

/// An operator that is applied, what an application counts, and its kernels.
struct AppliedOperator {
  std::shared_ptr<const op::LinearOperator> A;
  machine::Counts counts;
  std::vector<op::KernelInfo> kernels;
};

/// Says how a problem is solved.
struct SolveChoice {
  std::string preconditioner = "multigrid"; ///< name of solvers::preconditioners(); the method is conjugate gradients
  std::string plan;                         ///< plan of the operators of all levels; empty: the planner chooses
  int max_iterations = 0;                   ///< ends the solve; 0: solvers::default_max_iterations
  solvers::MultigridParameters multigrid{}; ///< smoothers, coarse solver and algebraic multigrid
  /// Precision of the levels of multigrid but the coarsest; plans of rows have it there, too.
  schedule::Precision precision = schedule::Precision::double_precision;
  solvers::Norm norm = solvers::Norm::preconditioned; ///< norm of the residual that ends the solve at 1e-6
  /// Makes what is applied in the place of the operators of all levels, in double precision; empty: they are
  /// themselves.
  std::function<AppliedOperator(std::shared_ptr<const op::Operator>)> in_place{};
};

/// Seconds of what comes before a solve.
struct SolvePhases {
  double spaces = 0;         ///< batches of cells, numbering
  double kernels = 0;        ///< plans, text and compilation of the kernels, but for those of transfers
  double form = 0;           ///< data or matrix of the finest operator, right-hand side
  double preconditioner = 0; ///< spaces, operators and transfers of coarser levels, smoothers, coarse solver
};

/// A problem is set up when this object is made. Solves begin at zero and end when the norm of the residual has fallen
/// to 1e-6.
class TimedSolve {
public:
  /// Throws the errors of the operator, the preconditioner and their set-up.
  TimedSolve(const SolveProblem& problem, const SolveChoice& choice, const std::shared_ptr<device::Device>& device,
             int threads);
  TimedSolve(const TimedSolve&) = delete; // the preconditioner keeps the address of the operator
  TimedSolve& operator=(const TimedSolve&) = delete;

  solvers::Result solve();
  void apply(); ///< applies the finest operator once
  std::span<const op::KernelInfo> kernels() const { return levels_.back().applied.kernels; } ///< those of the finest
  const op::Operator& A() const { return *A_; }
  const solvers::Preconditioner& M() const { return *M_; }
  /// Number of unknowns of the coarsest level of multigrid; 0: the preconditioner is another one.
  std::int64_t num_coarsest_unknowns() const { return num_coarsest_unknowns_; }
  const SolvePhases& phases() const { return phases_; }
  void restart_counts() const; ///< applications of all levels are counted from now on
  /// Returns what was counted since then, per solve of `num_solves`: `finest_mdofs_per_second`,
  /// `level_mdofs_per_second` (all levels together), `finest_applications`, `operator_seconds` of all levels, and
  /// `bound_seconds`, the roofline's least time for these applications.
  Json counted(int num_solves, const machine::Machine& machine) const;

private:
  struct Level {
    std::shared_ptr<const op::Operator> A;
    AppliedOperator applied;
    std::shared_ptr<const TimedOperator> timed;
  };
  double lap(); ///< returns the seconds since the last call
  void add_level(std::shared_ptr<const op::Operator> A);
  /// Makes the levels below the finest, and `own_level` in the place of the finest one where it has kernels. The
  /// hierarchy holds operators that are timed instead of those themselves.
  solvers::MultigridHierarchy make_hierarchy(std::vector<op::GeneratedLevel> levels,
                                             const op::GeneratedAuxiliary& own_level, const op::System& system,
                                             const mesh::Generations& meshes);
  /// Seconds that the counted applications of a level took.
  double operator_seconds(const Level& level) const;
  int threads_;
  std::shared_ptr<device::Device> device_;
  double last_;
  SolvePhases phases_;
  SolveChoice choice_;
  std::shared_ptr<const op::Operator> A_;
  /// Levels from coarse to fine. The last is that of the operator; where multigrid has another one on its level, both
  /// are the finest.
  std::vector<Level> levels_;
  std::size_t num_finest_ = 1;
  std::int64_t num_coarsest_unknowns_ = 0;
  solvers::SolverOptions options_;
  op::Vector b_, x_;
  std::shared_ptr<const solvers::Preconditioner> M_;
};

/// Throws InputError where the size 0 is asked for, which solves do not choose by themselves.
void require_sizes(const std::string& suite, const Settings& settings);

/// Columns of both suites of solvers.
Column iterations_column(solvers::Norm norm = solvers::Norm::preconditioned);
Column end_column();
Column bytes_per_unknown_column();

/// Runs a suite's row: the problem is set up twice, so that kernels are compiled before anything is timed, and solved
/// once before and then `rounds` times as often as fills a sample. `make` makes the problem, also its meshes unless
/// they are those of a file. Returns `dofs`, `cells`, `iterations`, `is_converged`, `end`, `preconditioner` (in words),
/// `coarsest_dofs` and `level_precision` of multigrid, `num_levels`, the phases as NAME_seconds, `seconds` (of a
/// solve), `spread`, `mdofs_per_second` (unknowns over this time), `application_seconds`, `memory_bytes`,
/// `bytes_per_unknown`, the plans of the finest operator, and TimedSolve::counted().
Json solve_row(const std::function<SolveProblem()>& make, const SolveChoice& choice,
               const std::shared_ptr<device::Device>& device, const machine::Machine& machine,
               const Settings& settings);

} // namespace rafter::bench
