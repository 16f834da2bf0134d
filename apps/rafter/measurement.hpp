// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <rafter/machine/machine.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/report/report.hpp>
#include <rafter/solve/solver.hpp>

/// How fast operators run, against the roofline of the machine.
namespace rafter::app {

/// Median of the seconds of one call: calls until `seconds` have passed, three at least.
double median_seconds(const std::function<void()>& call, double seconds);

/// Report of an operator, against the roofline of the machine: from its use in the solve, or timed now where that was
/// too short to tell.
report::OperatorReport report_operator(const op::Operator& A, const machine::Machine& machine);

/// Report of a linear form, timed now.
report::OperatorReport report_linear_form(const op::LinearForm& L, const op::System& system,
                                          const machine::Machine& machine);

/// Report of an iteration of conjugate gradients with a preconditioner that is diagonal; none for other solves and
/// those of few iterations.
std::optional<report::OperatorReport> report_iteration(const op::Operator& A, const solvers::Preconditioner& M,
                                                       const solvers::SolverOptions& options,
                                                       const solvers::Result& result, const machine::Machine& machine);

/// Warns where figures are shown that rest on ceilings of a busy machine; once in a run. The reports above do.
void warn_if_busy(const machine::Machine& machine);

report::MachineReport report_machine(const machine::Machine& machine, int threads);

} // namespace rafter::app
