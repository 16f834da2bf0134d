// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/io/problem.hpp>
#include <rafter/problem/prepared_problem.hpp>
#include <rafter/problem/solution.hpp>

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
  bool measures_operators = true; ///< whether the operators are timed after the solve
};

/// Makes the operators of a problem and nothing else; the planner predicts the time of every candidate. Throws as
/// solve_problem() does.
std::unique_ptr<const problem::PreparedProblem> prepare_operators(const io::Problem& file, const RunOptions& options);

/// Solves a problem, evaluates functionals and checks, writes the output file (when converged, or the last iterate if
/// the problem asks for that), and measures the operators where options say so. Throws InputError for everything that
/// is wrong with the problem and can be known before it is solved, and EnvironmentError where this machine lacks
/// something; the report describes a solve that failed.
problem::Solution solve_problem(const io::Problem& file, const RunOptions& options,
                                const problem::Progress& progress = {});

} // namespace rafter::app
