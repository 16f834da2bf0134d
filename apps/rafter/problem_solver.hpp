// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/device/compile_all.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/io/saved_state.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/report/report.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/theta_stepper.hpp>

#include "discretisation.hpp"
#include "null_space.hpp"
#include "phases.hpp"
#include "postprocess.hpp"

/// The content of a problem file becomes solved fields and a report.
namespace rafter::app {

/// The planner ignores measurements if this word takes the place of a plan.
inline constexpr const char* predicted_plan = "predicted";

/// Says where and how a problem runs.
struct RunOptions {
  std::string device = "host"; ///< name as for --device
  int threads = 0;             ///< 0 takes all cores
  /// The plan of the cell kernels: if it is empty, the planner chooses; with "predicted", it ignores measurements.
  std::string plan;
  bool weighs_all_plans = false; ///< whether the planner predicts the time of every candidate
  bool solves = true;            ///< if false, the kernels that only a solve needs are left out
};

/// A run tells its progress by these functions; empty ones are not called.
struct RunEvents {
  std::function<void(const std::string&)> event; ///< gets a line of text when something is done
  device::CompileProgress compilation;           ///< gets the number of a kernel that is compiled, from any thread
  solvers::Monitor iteration;                    ///< returns false to stop the solve
};

/// A problem with its operators is ready to be solved. It cannot be moved, since its parts refer to each other.
class PreparedProblem {
public:
  /// Throws InputError for everything that is wrong with the problem and can be known before it is solved, and
  /// EnvironmentError where this machine lacks something. `before` is the same problem prepared with other options,
  /// whose meshes are taken; null: they are read or made.
  PreparedProblem(const io::Problem& problem, const RunOptions& options, const RunEvents& events, Phases& phases,
                  const PreparedProblem* before = nullptr);
  PreparedProblem(const PreparedProblem&) = delete;
  PreparedProblem& operator=(const PreparedProblem&) = delete;

  const io::Problem& problem() const { return problem_; }
  /// Returns what the problem asks of the driver, in its present state. Refers to this object.
  problem::Problem stated() const;
  const op::System& system() const { return system_; }
  const ProblemForms& forms() const { return *forms_; }
  const op::OperatorOptions& options() const { return options_; }
  const machine::Machine& machine() const { return machine_; }
  const op::Operator& operator_a() const { return *operator_; }
  /// Returns the residual form of a nonlinear problem or of a problem in time, else the right-hand side, or null if
  /// that is zero.
  const op::LinearForm* linear_form() const {
    if (stepper_) return &stepper_->load();
    return residual_problem_ ? &residual_problem_->residual_form() : linear_form_.get();
  }
  /// Returns the equations of a problem with forms.F, whose tangent at the starting state is operator_a(), or null for
  /// other problems.
  solvers::ResidualProblem* residual_problem() const { return residual_problem_.get(); }
  /// Returns what makes the steps of a problem with [time], bound to the first one, or null for other problems.
  solvers::ThetaStepper* stepper() const { return stepper_.get(); }
  /// Sets the time of boundary values, of sources and of whatever else is evaluated from now on.
  void set_time(double time) const;
  /// Takes the values of fields.NAME.initial, or 0; with time.restart the state that the file holds.
  op::Vector starting_state() const;
  /// Says where in time that state belongs; nothing without time.restart.
  const std::optional<io::SavedTime>& saved_time() const { return saved_time_; }
  const Postprocess& postprocess() const { return *postprocess_; } ///< exists only if the problem is to be solved

  const ProblemData& data() const { return *data_; }
  const PlannedConstraints& constraints() const { return constraints_; } ///< exist only if the problem is to be solved

  /// Returns the levels of multigrid below the operator, with their null spaces; null unless the problem is to be
  /// solved with multigrid of all fields.
  std::shared_ptr<const solvers::MultigridHierarchy> make_hierarchy() const;
  /// Returns what algebraic multigrid asks for of the unknowns; the system is copied.
  std::function<solvers::NearNullSpace()> near_null_space() const;
  /// Returns the compiled blocks of the preconditioner, of which there are some only if the problem is to be solved
  /// with them.
  const solvers::GeneratedBlocks& blocks() const { return blocks_; }

  /// Tells an event. Throws Interrupted when the user has asked to stop.
  void tell(const std::string& text) const;

private:
  void take_meshes(Phases& phases, const PreparedProblem* before);
  /// Returns the Dirichlet conditions with their values at the current time.
  std::vector<op::FieldCondition> make_conditions() const;
  /// Generates the kernels of the levels of multigrid. A problem that names no preconditioner gets Jacobi where there
  /// are none.
  std::vector<op::GeneratedLevel> generate_levels(const op::KernelOptions& kernels);
  std::vector<double> find_start();
  void make_residual_problem(const std::shared_ptr<const op::GeneratedForm>& residual);
  void make_stepper(form::ThetaForms forms, const std::shared_ptr<const op::GeneratedForm>& load);
  void make_operators(const form::LoweredForm& bilinear, const std::optional<form::LoweredForm>& linear, bool solves);
  io::Problem problem_; ///< problem, with the preconditioner that was chosen for one that names none
  RunEvents events_;
  std::shared_ptr<const mesh::Generations> meshes_;
  std::shared_ptr<const mesh::Mesh> mesh_; ///< the finest
  machine::Machine machine_;
  op::System system_;
  std::unique_ptr<ProblemData> data_;
  std::unique_ptr<ProblemForms> forms_;
  op::OperatorOptions options_;
  std::shared_ptr<op::Operator> operator_;
  std::unique_ptr<op::LinearForm> linear_form_;
  std::unique_ptr<solvers::ResidualProblem> residual_problem_;
  std::vector<double> start_; ///< state that Newton's method or the first time step begins with, shape (unknown)
  std::optional<io::SavedTime> saved_time_;
  std::vector<double>
      saved_intermediate_; ///< intermediate value of the step that led to the saved state, shape (unknown)
  std::optional<form::ThetaForms> theta_forms_; ///< the stepper takes them over when it is made
  std::unique_ptr<solvers::ThetaStepper> stepper_;
  bool is_boundary_in_time_ = false; ///< whether boundary values depend on the time
  std::unique_ptr<Postprocess> postprocess_;
  PlannedConstraints constraints_;
  std::vector<op::Level> levels_; ///< levels of multigrid below the operator, from coarse to fine
  op::Auxiliary own_level_; ///< operator that multigrid takes in the place of the given one on its own level, if any
  solvers::GeneratedBlocks blocks_;
};

/// The values of field f of the solution begin at entry system.offset(f).
struct Solution {
  op::System system;
  op::Vector values;
  report::SolveReport report;
  bool is_converged = false;
  bool is_written = false; ///< whether the output file of the problem is written
};

/// Solves a problem, evaluates functionals and checks, writes the output file (when converged, or the last iterate if
/// the problem asks for that), and measures the operators. Throws as PreparedProblem does; the report tells of a solve
/// that failed.
Solution solve_problem(const io::Problem& problem, const RunOptions& options, const RunEvents& events = {});

} // namespace rafter::app
