// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/operator_options.hpp>
#include <rafter/solve/solver.hpp>

/// Estimates of the work of a solve, before anything is known of it but its size.
namespace rafter::problem {

/// Returns the number of iterations that conjugate gradients with Jacobi need for a second-order operator: a multiple
/// of the number of points along an edge of the domain, of which there are `num_points` in all.
double expected_jacobi_iterations(double num_points, int tdim);

/// Says whether conjugate gradients with Jacobi are expected to run for seconds on so many unknowns of a field.
bool takes_long_with_jacobi(double num_unknowns, int num_components, int tdim);

/// Returns the number of times that a solve is expected to apply the operator, which shows how much set-up pays.
double expected_applications(const solvers::SolverOptions& options, bool uses_multigrid, const op::System& system);

/// Says whether all applications of the operator that a stationary linear problem is expected to need
/// (options.num_applications) take less time than compilers and the planner need to make them faster. What counts is
/// the work of dense kernels, which other ones do not exceed; a solve may also need several times as many applications
/// as expected. Plans that were given or measured are taken in any case.
bool is_shorter_than_compilation(const op::System& system, const op::OperatorOptions& options);

} // namespace rafter::problem
