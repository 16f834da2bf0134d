// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/solve/solver.hpp>

/// Estimates of the work of a solve, before it begins.
namespace rafter::problem {

/// Seconds that a solve takes beside its kernels, from set-up to solution.
struct SolveForecast {
  double with_jacobi = 0, with_multigrid = 0;
  /// Says whether multigrid is the faster one, where that is worth its kernels.
  bool is_for_multigrid() const;
};
/// Forecasts a solve by conjugate gradients from the planner's time of an application. An application of `action`
/// takes no time where the planner does not know it.
SolveForecast forecast_solve(const op::GeneratedForm& action, double jacobi_iterations);

/// Returns the number of times that a solve is expected to apply the operator, which shows how much set-up pays.
double expected_applications(const solvers::SolverOptions& options, bool uses_multigrid, double jacobi_iterations);

/// Says whether all applications of the operator that a stationary linear problem is expected to need
/// (options.num_applications) take less time than compilers and the planner need to make them faster. What counts is
/// the work of dense kernels, which other ones do not exceed; a solve may also need several times as many applications
/// as expected. Plans that were given or measured are taken in any case.
bool is_shorter_than_compilation(const op::System& system, const op::OperatorOptions& options);

} // namespace rafter::problem
