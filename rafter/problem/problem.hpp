// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/io/derived_field.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/problem/request.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// A problem as a value, which problem files and programs fill from texts and from objects.
namespace rafter::problem {

/// Steps of a theta scheme lead from one time to another. Times have the unit of the form's dt().
struct TimeInterval {
  double start = 0, end = 1, step = 0.1; ///< the last step may be shorter
  double theta = 1;                      ///< 1: implicit Euler method; 0.5: Crank and Nicolson's
  /// The output of an earlier run, whose last state and time take the place of Problem::initial and `start`; "": none.
  std::string restart{};
};

/// A number that is computed from the solution.
struct NamedFunctional {
  /// Takes a form of rank 0, such as u * dx.
  NamedFunctional(std::string of, const form::Form& form);
  NamedFunctional(std::string of, form::FunctionalText parsed, std::string named)
      : name(std::move(of)), text(std::move(parsed)), origin(std::move(named)) {}

  std::string name;
  form::FunctionalText text; ///< integrals, and the arithmetic between them
  std::string origin;        ///< begin of messages about it, such as "beam.toml:9:8: functionals.energy"
  /// The value of this functional in the expressions of later ones, set when it is evaluated; null: none uses it.
  std::shared_ptr<form::CoefficientData> number{};
};

/// The solution of a field that is known, from which errors are computed.
struct ExactSolution {
  std::size_t field = 0; ///< number of the field among Problem::unknowns
  form::Expr value;      ///< an expression of x, data fields and parameters, of the shape of the field
  std::string origin{};  ///< begin of messages about it, such as "beam.toml:20:5: check.u"; "": they name the field
  /// Makes a function that evaluates it at points at the present time, with messages of its own where it is not finite;
  /// empty: `value` is evaluated.
  std::function<space::SpatialFunction()> make_function{};
};

/// Errors that a solution may have, in relative norms; they hold for each field with an exact solution.
struct Check {
  std::vector<ExactSolution> exact{};
  std::optional<double> max_l2_error{}, max_h1_error{};
};

/// The file that a solution is written to, as VTK-HDF.
struct Output {
  std::string file{};                     ///< "": nothing is written
  bool on_failure = false;                ///< whether a solve that did not converge writes its last iterate
  int every = 1;                          ///< number of time steps from one state that is written to the next
  std::vector<io::DerivedField> fields{}; ///< expressions of the unknowns, data fields and parameters
};

/// The equations are a(u, v) = L(v) or F(u; v) = 0 for all test functions v; with a time, F(dt(u), u, t; v) = 0. Copies
/// share spaces, meshes, values of data fields and the numbers of functionals: they are solved one after the other.
struct Problem {
  std::string title{};
  /// The fields that are solved for, as F, functionals and output fields hold them: field(V.ptr(), "u"). Spaces are on
  /// one discretisation.
  std::vector<form::Expr> unknowns;
  std::optional<form::Form> a{}, L{}; ///< L absent: zero
  std::optional<form::Form> F{};      ///< takes the place of a and L
  std::optional<form::Form> energy{}; ///< functional whose derivative is F, for the line search of Newton's method
  std::vector<NamedValues> data{};    ///< values of the other fields, by name; their dt() is 0
  std::vector<std::pair<std::string, double>> parameters{}; ///< values of parameters, by name, but for the time "t"
  std::optional<TimeInterval> time{};                       ///< absent: the problem is stationary
  /// Vector of the system of the unknowns that Newton's method or the first step begins with; null: 0.
  std::shared_ptr<const op::Vector> initial{};
  /// Device, quadrature, plan and Dirichlet conditions, whose values may be expressions of parameters and the time.
  op::OperatorOptions discretisation{};
  /// Conditions that fix what the operator leaves open, one per field at most: of residual forms what the tangent at
  /// the first state does.
  std::vector<solvers::NullSpaceCondition> null_space{};

  /// The solver of linear systems. A method that is not named is chosen (choose_before_kernels, choose_method).
  solvers::SolverOptions solver{.method = "", .preconditioner = "", .control = {.rtol = 1e-8}};
  solvers::NewtonOptions newton{}; ///< options for problems that are not linear; its `solver` is not used
  /// The preconditioner; "": multigrid for one field where Jacobi would take long, else Jacobi.
  PreconditionerChoice preconditioner = "";
  /// The meshes from which multigrid that nobody named makes its levels, the last of which is that of the unknowns;
  /// absent: that one alone.
  std::optional<mesh::Generations> meshes{};

  std::vector<NamedFunctional> functionals{}; ///< each may use the numbers of those before
  Check check{};
  Output output{};
  /// Called with each time and the state then, from the first on, the consistent one (ThetaStepper::project).
  std::function<void(double time, const op::Vector& state)> monitor{};

  // Whoever reads problems from texts sets these, too.
  Statement statement{};
  bool is_preconditioner_chosen = false; ///< whether the preconditioner was chosen for the problem, not named
  /// Whether something is asked for that only iterative methods have and that `solver` does not show.
  bool is_iterated = false;
  bool is_residual = true; ///< whether F was stated as such; false: it was made of a and L
  /// Sets the time in expressions that hold it under another name than "t". Empty: there are none.
  std::function<void(double time)> set_time{};
  /// Returns the Dirichlet conditions with their values at the time that was set. Empty: they follow the time by
  /// themselves or do not change.
  std::function<std::vector<op::FieldCondition>()> conditions_now{};
};

/// Says how kernels of a problem are made.
struct Preparation {
  bool solves = true;              ///< if false, kernels that only a solve needs are left out
  bool uses_measured_plans = true; ///< if false, the planner ignores measurements
  bool weighs_all_plans = false;   ///< whether the planner predicts the time of every candidate
};

} // namespace rafter::problem
