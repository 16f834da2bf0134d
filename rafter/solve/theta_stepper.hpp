// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/form/theta_scheme.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/solve/solver.hpp>

/// Makes steps in time.
namespace rafter::solvers {

/// A step from `begin` to `end`. Its length is given, too: equal steps have equal lengths, while differences of times
/// are equal up to rounding only, and an operator with equal parameters keeps its preconditioner.
struct TimeStep {
  double begin = 0, end = 0, length = 0;
  double theta = 1; ///< 1: implicit Euler method; 1/2: Crank and Nicolson's (trapezoidal rule)
};

/// The times of a run with steps of one length, the last of which may be shorter. If it is not, the last time is the
/// one that a longer run has there, which differs from the given end by rounding.
class TimeGrid {
public:
  /// Throws InputError unless step > 0, end > start, theta is in [0, 1] and there are at most 1e9 steps.
  TimeGrid(double start, double end, double step, double theta);
  std::int64_t num_steps() const { return num_steps_; }
  double time(std::int64_t number) const;   ///< time after so many steps
  TimeStep step(std::int64_t number) const; ///< the step that leads to time(number)
  /// Says whether the last step is as long as the others, so that a longer run has it, too.
  bool ends_with_whole_step() const { return ends_with_whole_step_; }

private:
  double start_, end_, step_, theta_;
  std::int64_t num_steps_ = 0;
  bool ends_with_whole_step_ = false;
};

/// Says how a step went.
struct TimeStepResult {
  Status status = Status::not_converged;
  Failure failure = Failure::none;
  std::string message, warning; ///< see Result
  int iterations = 0;           ///< iterations of the linear solver
  int newton_steps = 0;         ///< 0: the problem is linear
  /// Residual after the step. For a linear problem it is the 2-norm relative to the loads of the step and its
  /// reactions; else see NewtonResult.
  double relative_residual = 0;
  /// Part of the loads in the null space that was removed, see ConstrainedNullSpace::balance.
  double removed = 0;
};

/// Solvers for the steps in time.
struct TimeSolverOptions {
  SolverOptions solver; ///< solver of linear systems; rtol is relative to the loads of a step (with its reactions)
  NewtonOptions newton; ///< options for problems that are not linear; its `solver` is not used
};

/// The intermediate value of the last step (form::ThetaForms), with which the next one begins.
struct IntermediateValues {
  Vector values;  ///< values of the fields without a derivative in time, in a vector of the system
  double lag = 0; ///< so long before the end of that step is the time of the intermediate value
};

/// Makes steps of a theta scheme with the kernels of its forms. There is one operator; lengths of steps, theta and
/// times are parameters of it, and only those change from step to step.
class ThetaStepper {
public:
  /// `tangent` is the operator of forms.tangent with the conditions of the problem, `load` holds compiled kernels of
  /// forms.load, and `names` are those of the unknowns, in the order of the system.
  ThetaStepper(form::ThetaForms forms, std::vector<std::string> names, std::shared_ptr<op::Operator> tangent,
               std::shared_ptr<const op::GeneratedForm> load, TimeSolverOptions options);

  /// Is called before each solve with the time of its boundary values, which it may give to the operator. Values that
  /// are expressions of a parameter t follow without it.
  std::function<void(double time)> set_boundary_values;
  void use_null_space(ConstrainedNullSpace null_space);
  void use_method(const std::string& method);
  /// Takes levels below the operator, which the preconditioner multigrid needs.
  void use_hierarchy(std::shared_ptr<const MultigridHierarchy> hierarchy);

  /// Binds the value of a parameter of the forms or of boundary values, or those of a data field that is none of the
  /// unknowns, for all steps from now on. Throws InputError where there is none of that name, and for vectors of
  /// another size.
  void set_parameter(const std::string& name, double value);
  void set_data(const std::string& name, const Vector& values);

  bool is_linear() const { return forms_.is_linear; }
  /// Says whether steps have intermediate values, which a run that goes on from a state needs, too.
  bool has_intermediates() const { return forms_.has_intermediates; }
  const std::vector<form::FieldRole>& roles() const { return forms_.roles; } ///< shape (field)
  /// The intermediate value of the step before; null: the next step is a first one, or there are no intermediate
  /// values.
  const IntermediateValues* intermediate() const { return intermediate_ ? &*intermediate_ : nullptr; }
  /// Takes the intermediate value of the step that led to the state from which the next step starts.
  void set_intermediate(IntermediateValues intermediate) { intermediate_ = std::move(intermediate); }
  const op::Operator& tangent() const { return *tangent_; }
  /// The preconditioner of the last solve; null: there was none.
  const Preconditioner* preconditioner() const { return preconditioner_->get(); }
  /// The linear form of forms.load, which takes values of data fields that are none of the unknowns. (Those of the
  /// tangent are set there.)
  op::LinearForm& load() { return problem_ ? problem_->residual_form() : *load_; }

  /// Binds the parameters of a step, and the state at its begin where the operator depends on it.
  void bind(const TimeStep& step, const Vector& u);
  /// Makes the state `u` consistent at this time: it gets the boundary values and fulfils the equations without a
  /// derivative in time, while its differential fields change as little as possible in the norm of the terms with
  /// derivatives. Algebraic fields are solved for; multipliers stay as they are. The next step is a first one. If the
  /// equations do not determine algebraic fields at one time (those of a stabilised pressure do not see constants), the
  /// state gets the boundary values alone, the result warns, and the first step is one of the implicit Euler method,
  /// which needs no other state; the order of the scheme stays.
  TimeStepResult project(double time, Vector& u);
  /// Makes one step; `u` holds the state before and after it, and is where the solver starts from. After a step that
  /// failed, as the result says, `u` is no state of any time, while the intermediate value stays. Throws the errors of
  /// newton() and of form::require_theta().
  TimeStepResult advance(const TimeStep& step, Vector& u);
  /// Describes the first cell where the residual of a state, or its derivative, is not finite; "": both are.
  std::string describe_non_finite(const TimeStep& step, const Vector& u);

private:
  /// Factors of the terms of a step: of the state before, of the state after, and of the equations without a derivative
  /// in time; the theta of the scheme; and the shares of the state after in intermediate values.
  struct Weights {
    double first, last, constraint, theta, algebraic_share, multiplier_share;
  };
  Weights weights_of(const TimeStep& step) const;
  IntermediateValues intermediate_after(const Weights& weights, const Vector& u, IntermediateValues before) const;
  void bind(const Weights& weights, double begin, double end, const Vector& u);
  void set(const std::string& name, double value);
  void set_state(const Vector& u);
  void set_field(const std::string& name, const Vector& values, std::size_t field);
  TimeStepResult begin_implicitly(double time, const Vector& start, Vector& u, const TimeStepResult& failed);
  TimeStepResult solve(double time, Vector& u);
  TimeStepResult solve_linear(Vector& u);
  TimeStepResult solve_by_newton(Vector& u);
  const Preconditioner& current_preconditioner();

  form::ThetaForms forms_;
  std::vector<std::string> names_;
  std::shared_ptr<op::Operator> tangent_;
  TimeSolverOptions options_;
  std::unique_ptr<op::LinearForm> load_;     ///< load of linear problems
  std::unique_ptr<ResidualProblem> problem_; ///< equations of other problems
  std::optional<IntermediateValues> intermediate_;
  bool begins_implicitly_ = false; ///< the first step is one of the implicit Euler method
  ConstrainedNullSpace null_space_;
  std::map<std::string, double> parameters_; ///< present values of the tangent's parameters
  std::shared_ptr<KeptPreconditioner> preconditioner_ = std::make_shared<KeptPreconditioner>();
  bool is_stale_ = true; ///< says whether the operator has changed since the preconditioner followed it
};

} // namespace rafter::solvers
