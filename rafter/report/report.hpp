// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/device/device.hpp>
#include <rafter/report/table.hpp>

/// A report is what a solve gives its user: one structure, which `--json` writes as an object and the command as text.
namespace rafter::report {

/// A kernel of an operator, one per shape of cell, kind of map and facets, and what was decided about it.
struct KernelPlan {
  std::string kernel; ///< "cell hexahedron cartesian"
  std::string plan;   ///< its text (schedule::to_string)
};

/// The report of an operator says how fast it ran, against the time-based roofline.
struct OperatorReport {
  std::string name; ///< "apply", "right-hand side", ...
  std::vector<KernelPlan> plans;
  double dofs_per_second = 0;   ///< unknowns of the operator over seconds
  double gflops = 0;            ///< 1e9 floating-point operations per second
  double gbytes_per_second = 0; ///< 1e9 bytes per second of compulsory traffic
  double bound_seconds = 0;     ///< no execution on this machine is faster
  double seconds = 0;           ///< time of one application
  double share = 0;             ///< bound_seconds / seconds
  std::string limited_by;       ///< "compute", "memory" or "local memory" (the nearest cache)
};

struct FieldErrors {
  double l2 = 0; ///< relative L2 error
  double h1 = 0; ///< relative error of the gradient (H1 seminorm)
};

struct MachineReport {
  std::string name; ///< processor
  int threads = 1;
  double gflops = 0;            ///< peak of double precision, all threads together
  double gbytes_per_second = 0; ///< memory bandwidth, all threads together
  std::string warning;          ///< warning of bounds and shares, which rest on these; empty: none
};

/// Relative norms of the residual that a solve ended with.
struct ResidualReport {
  std::string norm;                     ///< the one that the solve was stopped on: "residual", "preconditioned"
  double residual = 0;                  ///< 2-norm
  std::optional<double> preconditioned; ///< (M^-1 r, r)^1/2; absent: not known
  double of_first_residual = 0;         ///< 2-norm relative to the first residual, with lifted boundary values
  bool has_lift = false;  ///< boundary values are not zero: the others are relative to loads and reactions
  bool has_forces = true; ///< false: these are rounding errors, and the others are relative to |A| |x|
};

/// The factorisation of a direct solve.
struct FactorReport {
  std::string kind; ///< "L D L^T", "L U"
  std::int64_t entries = 0;
  double fill = 0; ///< entries over those of the matrix, of one half where that is symmetric
  std::int64_t bytes = 0;
  std::int64_t negative_pivots = 0; ///< negative pivots of L D L^T: negative eigenvalues of the matrix
};

/// A step of Newton's method and the relative residual that it begins with.
struct NewtonStepReport {
  double load_factor = 1;
  double residual = 0;
  bool is_last = false; ///< last of a load step: there is no step after this residual
  double length = 1;    ///< length in Newton steps
  double tolerance = 0; ///< relative, of the linear system
  int linear_iterations = 0;
};

/// A step in time.
struct TimeStepReport {
  double time = 0;      ///< time at its end
  int iterations = 0;   ///< iterations of the linear solver
  int newton_steps = 0; ///< 0: the problem is linear
  double residual = 0;  ///< relative
};

/// The steps of a problem with [time].
struct TimeReport {
  double start = 0, end = 0, step = 0, theta = 1;
  std::vector<TimeStepReport> steps; ///< steps that were taken
};

/// Everything that a solve reports; lists keep their order in the text.
struct SolveReport {
  std::string title;
  std::string version; ///< empty: of this library
  std::string status;  ///< "converged", "not converged", "failed check"
  std::string message; ///< why not converged, which check failed; empty otherwise
  std::string warning; ///< warning of a solve that converged; empty otherwise
  /// Estimate of the error that rounding makes, relative to the largest value of each field; 0: there is none.
  double relative_error = 0;
  std::int64_t dofs = 0;
  std::vector<std::pair<std::string, std::int64_t>> cells; ///< per shape
  std::string method;                                      ///< method of the solver: "cg", ...; empty: not known
  std::string reason;                                      ///< why this method, where the problem does not say which
  std::string preconditioner_name;                         ///< "jacobi", ...; empty: none, as in direct solves
  std::string preconditioner;                              ///< parts that were built; empty: its name says all
  std::optional<FactorReport> factors;                     ///< factors of direct solves
  std::vector<NewtonStepReport> newton;                    ///< steps of residual forms, which `iterations` counts
  std::optional<TimeReport> time;                          ///< `iterations` and `residual` are then of all steps
  int iterations = 0;
  double residual = 0;                                     ///< relative, in the norm that the solve was stopped on
  std::optional<ResidualReport> residuals;                 ///< residuals in all norms
  std::vector<std::pair<std::string, FieldErrors>> errors; ///< per field with an exact solution
  std::vector<std::pair<std::string, double>> functionals;
  std::vector<std::pair<std::string, double>> seconds; ///< per phase: mesh, spaces, kernels, setup, solve, output
  /// Copies between host and device, per phase; empty where the device shares the memory of the host.
  std::vector<std::pair<std::string, device::Copies>> copies;
  std::vector<OperatorReport> operators;
  MachineReport machine;
  /// The rules of quadrature of the kernels of the operator and of the right-hand side, and why they were chosen
  /// (op::KernelInfo::quadrature); those that are the same once, with the kernels' names.
  std::vector<std::pair<std::string, std::string>> quadrature;
  std::vector<double> history;        ///< relative residual before the first and after each iteration
  std::int64_t peak_memory_bytes = 0; ///< most that was resident beyond what was at the start; 0: not known
};

/// The object of `--json`; numbers that are not finite become null.
std::string to_json(const SolveReport& report);

/// Says how much a text holds.
enum class Detail : std::uint8_t {
  results, ///< results first, then times and the speed of operators, a line each
  all      ///< also all norms, steps, parts of the preconditioner, legends of tables, bounds and plans
};

/// Returns what `rafter solve` prints at its end.
std::string to_text(const SolveReport& report, Detail detail = Detail::results);

} // namespace rafter::report
