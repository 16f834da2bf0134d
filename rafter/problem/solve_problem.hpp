// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include <rafter/problem/phases.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/problem/solution.hpp>

/// Problems as values are solved, from their forms to functionals, checks and the output file.
namespace rafter::problem {

/// Says how a problem is run.
struct RunOptions {
  bool uses_measured_plans = true; ///< if false, the planner ignores measurements
  bool measures_operators = false; ///< whether the report has the speed of operators, which are timed after the solve
  Phases phases{};                 ///< phases that have been, such as the one that made the mesh
  /// Bytes that were resident when the run began, from which the peak in the report counts; absent: it has none.
  std::optional<std::int64_t> resident_bytes{};
};

/// Solves a problem, evaluates functionals and checks, and writes the output file (when converged, or the last iterate
/// if the problem asks for that). Throws InputError for everything that is wrong with the problem, and EnvironmentError
/// where this machine lacks something; numerical failures are in the report.
///
///     FunctionSpace V(mesh, {.degree = 2});
///     auto [u, v] = arguments(V);
///     Problem problem{.unknowns = {field(V.ptr(), "u")}, .a = inner(grad(u), grad(v)) * dx, .L = v * dx};
///     problem.discretisation.dirichlet = {V.fixed({}, 0)};
///     problem.functionals = {{"mean", field(V.ptr(), "u") * dx}};
///     Solution solution = solve(problem);
Solution solve(const Problem& problem, const Progress& progress = {}, RunOptions options = {});

} // namespace rafter::problem
