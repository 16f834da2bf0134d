// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/io/saved_state.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/operator/levels/auxiliary_operator.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/equations.hpp>
#include <rafter/problem/memory.hpp>
#include <rafter/problem/phases.hpp>
#include <rafter/problem/postprocess.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/theta_stepper.hpp>
#include <rafter/tune/planner.hpp>

/// A problem with its operators, ready to be solved.
namespace rafter::problem {

/// Cannot be moved, since its parts refer to each other.
class PreparedProblem {
public:
  /// Checks the problem, makes all its kernels, compiles them at the same time and binds them to their data. Throws
  /// InputError for everything that is wrong with the problem and can be known before it is solved, and
  /// EnvironmentError where this machine lacks something.
  PreparedProblem(Problem problem, const Preparation& preparation, Progress progress, Phases& phases);
  PreparedProblem(const PreparedProblem&) = delete;
  PreparedProblem& operator=(const PreparedProblem&) = delete;

  const Problem& problem() const { return problem_; }
  const Progress& progress() const { return progress_; }
  /// Returns what the problem asks of its solver. Refers to this object.
  Request request() const;
  const op::System& system() const { return equations_.system; }
  const std::vector<std::string>& names() const { return equations_.names; } ///< names of the fields, shape (field)
  const op::OperatorOptions& options() const { return options_; }            ///< options of the operator
  const machine::Machine& machine() const { return machine_; } ///< ceilings of the machine that kernels are planned for
  const op::Operator& operator_a() const { return *operator_; }
  /// Returns the residual form of a nonlinear problem or of a problem in time, else the right-hand side, or null if
  /// that is zero.
  const op::LinearForm* linear_form() const {
    if (stepper_) return &stepper_->load();
    return residual_problem_ ? &residual_problem_->residual_form() : linear_form_.get();
  }
  /// Returns the equations of a problem with F, whose tangent at the starting state is operator_a(), or null for other
  /// problems.
  solvers::ResidualProblem* residual_problem() const { return residual_problem_.get(); }
  /// Returns what makes the steps of a problem in time, bound to the first one, or null for other problems.
  solvers::ThetaStepper* stepper() const { return stepper_.get(); }
  /// Sets the time of boundary values, of sources and of whatever else is evaluated from now on.
  void set_time(double time) const;
  /// Takes the state that the problem begins with, or 0; with TimeInterval::restart the state that the file holds.
  op::Vector starting_state() const;
  /// Says where in time that state belongs; nothing without TimeInterval::restart.
  const std::optional<io::SavedTime>& saved_time() const { return saved_time_; }
  Postprocess& postprocess() const { return *postprocess_; } ///< exists only if the problem is to be solved
  std::vector<space::FieldValues> known_fields() const;      ///< data fields whose space is known, for the output

  /// Returns the null space that the conditions of the problem fix. Throws InputError as solvers::ConstrainedOperator
  /// and ConstrainedNullSpace do.
  solvers::ConstrainedNullSpace make_null_space() const;
  bool has_multigrid() const; ///< whether the linear systems are preconditioned by multigrid of all fields
  /// Returns the levels of multigrid below the operator, with their null spaces; null unless the problem is to be
  /// solved with multigrid of all fields.
  std::shared_ptr<const solvers::MultigridHierarchy> make_hierarchy() const;
  /// Returns what algebraic multigrid asks for of the unknowns; the system is copied.
  std::function<solvers::NearNullSpace()> near_null_space() const;
  /// Gives the options the levels of multigrid, or the blocks, that the preconditioner of the problem needs. The null
  /// space of the options is that of the operator.
  void add_preconditioner_parts(solvers::SolverOptions& options) const;

private:
  bool has_blocks() const;
  void look_at_program(const Preparation& preparation) const;
  /// Chooses the preconditioner and the method where the problem names none. Returns the kernels of the operator where
  /// they were generated for that, else null.
  std::shared_ptr<op::GeneratedForm> choose_solver(const Preparation& preparation);
  void bind_conditions(); ///< gives the conditions the values of parameters, and the first time
  void take_planner(const Preparation& preparation);
  struct Generated;
  /// `planned`: kernels of the operator that were generated already; null: there are none.
  Generated generate(bool solves, std::shared_ptr<op::GeneratedForm> planned);
  void generate_preconditioner(const op::KernelOptions& kernels, Generated& result);
  void make_operators(bool solves, space::Constraints constraints, std::shared_ptr<op::GeneratedForm> planned);
  /// Generates the kernels of the levels of multigrid. A problem that names no preconditioner gets Jacobi where there
  /// are none.
  std::vector<op::GeneratedLevel> generate_levels(const op::KernelOptions& kernels);
  SolveMemory memory() const;
  void read_saved_state();
  void make_residual_problem(const std::shared_ptr<const op::GeneratedForm>& residual,
                             const std::shared_ptr<const op::GeneratedForm>& energy);
  void make_stepper(const std::shared_ptr<const op::GeneratedForm>& load);

  Problem problem_; ///< the problem, with the method and the preconditioner that were chosen where none is named
  Progress progress_;
  std::string method_reason_; ///< why another method than the usual one was chosen
  bool has_method_ = false, has_preconditioner_ = false;
  Equations equations_;
  op::OperatorOptions options_;
  machine::Machine machine_;
  std::shared_ptr<op::Operator> operator_;
  std::unique_ptr<op::LinearForm> linear_form_;
  std::unique_ptr<solvers::ResidualProblem> residual_problem_;
  std::optional<io::SavedTime> saved_time_;
  /// The state of a file, and the intermediate value of the step that led to it, shape (unknown).
  std::vector<double> saved_state_, saved_intermediate_;
  std::unique_ptr<solvers::ThetaStepper> stepper_;
  std::unique_ptr<Postprocess> postprocess_;
  std::vector<std::shared_ptr<op::GeneratedForm>> masses_; ///< mass matrix of each condition on the null space
  std::vector<op::Level> levels_; ///< levels of multigrid below the operator, from coarse to fine
  op::Auxiliary own_level_; ///< operator that multigrid takes in the place of the given one on its own level, if any
  solvers::GeneratedBlocks blocks_; ///< compiled blocks of the preconditioner, if it has some
};

} // namespace rafter::problem
