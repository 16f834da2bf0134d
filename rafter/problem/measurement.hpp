// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>

#include <rafter/machine/machine.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/report/report.hpp>
#include <rafter/solve/solver.hpp>

/// The speed of operators is reported against the roofline of the machine.
namespace rafter::problem {

/// Reports an operator against the roofline of the machine, with its mean time in the solve, or timed now for about so
/// many seconds if it was applied too rarely there.
report::OperatorReport report_operator(const op::Operator& A, const machine::Machine& machine, double seconds);

/// Reports a linear form with the mean time of its assemblies, or timed now if there were none, or on a device.
report::OperatorReport report_linear_form(const op::LinearForm& L, const op::System& system,
                                          const machine::Machine& machine, double seconds);

/// Reports an iteration of conjugate gradients with a diagonal preconditioner. The result is empty for other methods
/// and preconditioners, and for solves of few iterations.
std::optional<report::OperatorReport> report_iteration(const op::Operator& A, const solvers::Preconditioner& M,
                                                       const solvers::SolverOptions& options,
                                                       const solvers::Result& result, const machine::Machine& machine);

/// Warns, once in a run, if the ceilings of the machine were measured while it was busy. Whoever prints bounds, shares
/// or predictions calls it.
void warn_if_busy(const machine::Machine& machine);

/// Reports the peak and the memory bandwidth of so many threads of the machine.
report::MachineReport report_machine(const machine::Machine& machine, int threads);

} // namespace rafter::problem
