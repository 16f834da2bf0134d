// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <rafter/io/vtkhdf.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/phases.hpp>
#include <rafter/report/report.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/solve/theta_stepper.hpp>

/// The solution of a problem, which solves of all kinds make, check and write alike.
namespace rafter::problem {

class PreparedProblem;

/// The values of field f begin at entry system.offset(f).
struct Solution {
  op::System system;
  op::Vector values;          ///< in time, those at the last time that was reached
  report::SolveReport report; ///< method, history, functionals and errors, by name
  std::string method;         ///< method of the linear systems
  bool is_converged = false;
  bool is_written = false;                       ///< whether the output file of the problem is written
  std::optional<solvers::NewtonResult> newton{}; ///< how a problem with F that is stationary was solved
  double time = 0;                               ///< last time that was reached
  /// How each step in time went, first the projection of the initial state.
  std::vector<solvers::TimeStepResult> steps{};
};

/// Returns a solution with the part of its report that is known before it is checked; `status` is that of the solver.
Solution make_solution(const PreparedProblem& prepared, op::Vector values, solvers::Status status);

/// Returns the name of the preconditioner for a report; "" where there is none, as with direct methods.
std::string preconditioner_name(const std::string& method, const std::string& preconditioner);

/// Returns the fields of the problem in a vector of its system, for output. The vector must outlive them.
std::vector<io::OutputField> output_fields(const PreparedProblem& prepared, const op::Vector& values);
/// Returns the other fields of the output. There are none where values are not finite, as a failed solve may leave
/// them.
std::vector<io::DerivedField> derived_fields(const PreparedProblem& prepared, const op::Vector& values);

/// Evaluates functionals and errors of a solve that converged.
void check_solution(const PreparedProblem& prepared, Phases& phases, Solution& solution);

} // namespace rafter::problem
