// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/schedule/precision.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/planning_problem.hpp>

namespace rafter::tune {

/// A parameter of plans with the values that make sense for a kernel, given what the axes before it chose. A new
/// parameter of plans is one line in the table of axes.
struct Axis {
  std::string_view key; ///< name in the plan's text
  double shared = 1;    ///< part of the cost model's error that plans share although they differ here
  /// The usual value first; at least one.
  std::vector<std::string> (*values)(const PlanningProblem& problem, const schedule::Plan& plan);
};
std::span<const Axis> axes();

/// Lanes that plans usually have for batches of so many cells and registers of so many doubles.
int usual_width(int cells_per_batch, int register_width,
                schedule::Precision compute = schedule::Precision::double_precision);

/// The compiler that keeps vectors of more lanes than a register holds in registers; others pass them through memory.
inline constexpr const char* splitting_compiler = "clang";

/// All plans that make sense, the usual one first.
std::vector<schedule::Plan> candidates(const PlanningProblem& problem);

/// Returns the share of the cost model's error that two plans have in common, 0 to 1: the product of `shared` over the
/// axes that concern both and in which they differ.
double similarity(const schedule::Plan& a, const schedule::Plan& b);

} // namespace rafter::tune
