// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/solve_problem.hpp>

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/problem/conditioning.hpp>
#include <rafter/problem/first_state.hpp>
#include <rafter/problem/linear_solve.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/problem/prepared_problem.hpp>
#include <rafter/problem/stretched_cells.hpp>
#include <rafter/problem/time_run.hpp>
#include <rafter/solve/trust.hpp>

namespace rafter::problem {
namespace {

/// Evaluates functionals and checks of a solve that converged, and writes the output file.
void finish(const PreparedProblem& prepared, Phases& phases, Solution& solution) {
  const auto& problem = prepared.problem();
  check_solution(prepared, phases, solution);
  phases.start("output");
  prepared.progress().require_running();
  solution.is_written = !problem.output.file.empty() && (solution.is_converged || problem.output.on_failure);
  if (solution.is_written)
    io::write_vtkhdf(problem.output.file, *prepared.system().mesh, output_fields(prepared, solution.values),
                     derived_fields(prepared, solution.values), {.known = prepared.known_fields()});
  phases.stop();
}

LinearParts parts_of(const PreparedProblem& prepared) {
  LinearParts parts{
      .null_space = [&] { return prepared.make_null_space(); },
      .check = [&] { prepared.postprocess().require_numbers_at_nodes(); },
      .preconditioner = [&](solvers::SolverOptions& options) { prepared.add_preconditioner_parts(options); }};
  if (const auto* form = prepared.linear_form()) parts.load = [form](op::Vector& load) { form->assemble(load); };
  return parts;
}

void report_result(const solvers::Result& result, report::SolveReport& report) {
  report.iterations = result.iterations;
  report.residual = result.relative_residual;
  report.history = result.history;
  report.message = result.message;
  if (result.warning.empty()) return;
  report.relative_error = result.relative_error.value_or(0);
  report.warning += (report.warning.empty() ? "" : "; ") + result.warning;
}

void report_method(const LinearSolve& solve, report::SolveReport& report) {
  const auto& [method, reason] = solve.choice();
  report.method = method;
  report.preconditioner_name = preconditioner_name(method, solve.options().preconditioner);
  report.preconditioner = solve.preconditioner().description();
  report.reason = reason;
  if (const auto* factors = solve.preconditioner().factors())
    report.factors = {.kind = factors->is_symmetric ? "L D L^T" : "L U",
                      .entries = factors->num_entries,
                      .fill = factors->fill(),
                      .bytes = factors->bytes,
                      .negative_pivots = factors->num_negative_pivots};
}

/// Takes a twentieth of the run so far at most, unless one application is longer.
void measure_operators(const PreparedProblem& prepared, Phases& phases, report::SolveReport& report) {
  double run = 0;
  for (const auto& [name, seconds] : phases.seconds()) run += seconds;
  constexpr double most_seconds = 0.1, share = 1.0 / 40; // for each of two
  const double seconds = std::min(most_seconds, share * run);
  phases.start("report");
  report.operators.push_back(report_operator(prepared.operator_a(), prepared.machine(), seconds));
  if (prepared.linear_form() != nullptr)
    report.operators.push_back(
        report_linear_form(*prepared.linear_form(), prepared.system(), prepared.machine(), seconds));
  phases.stop();
}

/// A solve returns its solution, and the report of an iteration that cannot be made later.
struct Solved {
  Solution solution;
  std::optional<report::OperatorReport> iteration; ///< cost of an iteration of cg, where it was measured
};

Solved solve_linear(const PreparedProblem& prepared, Phases& phases) {
  const auto& A = prepared.operator_a();
  phases.start("setup");
  const auto request = prepared.request();
  const auto parts = parts_of(prepared);
  LinearSolve solve(request, A, parts);
  const auto& M = solve.preconditioner();
  prepared.progress().notify(M.factors() != nullptr
                                 ? "setup: factors of the matrix"
                                 : fmt::format("setup: preconditioner {}{}", solve.options().preconditioner,
                                               M.description().empty() ? "" : ": " + M.description()));
  phases.start("solve");
  auto result = solve.run();
  phases.stop();
  if (result.failure == solvers::Failure::stopped) prepared.progress().require_running();
  if (request.is_whole) explain(result, A);
  if (prepared.has_multigrid() && prepared.problem().preconditioner.multigrid)
    if (const auto advice = advice_on_stretched_cells(prepared.problem().preconditioner.multigrid->coarsening,
                                                      prepared.system(), result.iterations);
        !advice.empty())
      prepared.progress().notify(advice);

  Solution solution = make_solution(prepared, std::move(solve.solution()), result.status);
  solution.method = solve.choice().method;
  auto& report = solution.report;
  report.warning = solvers::describe_removed(solve.removed());
  report_result(result, report);
  report_method(solve, report);
  if (result.norms)
    report.residuals = {.norm = std::string(solvers::name(request.solver.control.norm)),
                        .residual = result.norms->residual,
                        .preconditioned = result.norms->preconditioned,
                        .of_first_residual = result.norms->of_first_residual,
                        .has_lift = solve.has_lift(),
                        .has_forces = result.norms->has_forces};
  auto iteration = report_iteration(A, solve.preconditioner(), solve.options(), result, prepared.machine());
  return {std::move(solution), std::move(iteration)};
}

/// Says that loads which no state balances are why Newton's method has failed, where they are most of what is left.
std::string describe_unbalanced(const PreparedProblem& prepared, const ResidualStart& start, const op::Vector& u) {
  const auto null_space = start.null_space.null_space();
  if (null_space->is_empty()) return {};
  auto& equations = *prepared.residual_problem();
  const auto& A = prepared.operator_a();
  op::Vector r = A.make_vector();
  equations.residual(u, r);
  const auto entries = r.host_write();
  for (const auto i : A.constrained_entries()) entries[static_cast<std::size_t>(i)] = 0;
  const solvers::VectorOps ops(A);
  constexpr double most = 0.5;
  const double part = ops.norm(null_space->part(r)), whole = ops.norm(r);
  if (!(part > most * whole)) return {};
  return fmt::format("; {:.0f} % of the residual is in the null space that is fixed by a condition: no state balances "
                     "these loads and boundary values",
                     100 * part / whole);
}

/// Runs Newton's method with the linear solver of the problem, or the one that the tangent at the start requires.
solvers::NewtonResult run_newton(const PreparedProblem& prepared, const ResidualStart& start, op::Vector& u,
                                 const std::shared_ptr<solvers::KeptPreconditioner>& preconditioner) {
  const auto& problem = prepared.problem();
  const auto& progress = prepared.progress();
  auto options = problem.newton;
  options.solver = prepared.request().solver;
  options.solver.method = start.choice.method;
  options.solver.null_space = start.null_space.null_space();
  options.solver.hierarchy = prepared.make_hierarchy();
  if (!options.solver.near_null_space) options.solver.near_null_space = prepared.near_null_space();
  options.preconditioner = preconditioner;
  options.solver.control.monitor = progress.stopping(options.solver.control.monitor);
  options.monitor = [&progress, monitor = options.monitor](int iteration, double residual) {
    return progress.goes_on(iteration, residual) && (!monitor || monitor(iteration, residual));
  };
  start.null_space.constrain(u); // Newton's steps have no part of null vectors
  solvers::NewtonResult result;
  at_preconditioner(problem.statement.places,
                    [&] { result = solvers::newton(*prepared.residual_problem(), u, options); });
  const bool is_found = result.status == solvers::Status::converged;
  solvers::constrain(*prepared.residual_problem(), start.null_space, options.rtol, u, result);
  if (!is_found) result.message += describe_unbalanced(prepared, start, u);
  return result;
}

Solved solve_residual(const PreparedProblem& prepared, Phases& phases) {
  phases.start("setup");
  op::Vector u = prepared.starting_state();
  const auto request = prepared.request();
  std::function<solvers::ConstrainedNullSpace()> null_space;
  if (!prepared.problem().null_space.empty()) null_space = [&] { return prepared.make_null_space(); };
  const auto first = request.is_whole ? choose_for_residual(request, *prepared.residual_problem(),
                                                            prepared.operator_a(), u, null_space)
                                      : ResidualStart{.choice = {request.solver.method, {}}, .null_space = {}};
  const auto& choice = first.choice;
  prepared.postprocess().require_numbers_at_nodes();
  phases.start("solve");
  const auto& given = prepared.problem().newton.preconditioner;
  const auto preconditioner = given != nullptr ? given : std::make_shared<solvers::KeptPreconditioner>();
  auto result = run_newton(prepared, first, u, preconditioner);
  phases.stop();
  if (result.failure == solvers::Failure::stopped) prepared.progress().require_running();
  Solution solution = make_solution(prepared, std::move(u), result.status);
  auto& report = solution.report;
  report.method = "newton with " + choice.method;
  report.reason = choice.reason;
  report.preconditioner_name = preconditioner_name(choice.method, request.solver.preconditioner);
  if (const auto* last = preconditioner->get()) report.preconditioner = last->description();
  report.message = result.message;
  report.warning = result.warning;
  report.iterations = result.iterations;
  report.residual = result.relative_residual;
  for (const auto& step : result.steps) {
    report.history.push_back(step.residual);
    report.newton.push_back({.load_factor = step.load_factor,
                             .residual = step.residual,
                             .is_last = step.is_last,
                             .length = step.length,
                             .tolerance = step.forcing_term,
                             .linear_iterations = step.linear_iterations});
  }
  solution.method = choice.method;
  solution.newton = std::move(result);
  return {std::move(solution), std::nullopt};
}

Solved solve_prepared(const PreparedProblem& prepared, Phases& phases) {
  if (prepared.stepper() != nullptr) return {solve_steps(prepared, phases), std::nullopt};
  return prepared.residual_problem() != nullptr ? solve_residual(prepared, phases) : solve_linear(prepared, phases);
}

/// Says whether a solution may have lost digits to the plan of its operator: sums of integrals along each axis round
/// more than integrals over cells do, so that motions of rigid bodies have forces (decision 0063).
bool loses_digits_to_plan(const PreparedProblem& prepared, const Solution& solution) {
  if (prepared.stepper() != nullptr || prepared.residual_problem() != nullptr) return false;
  if (prepared.system().mesh->distribution != nullptr) return false; // processes have plans of their own
  const auto& report = solution.report;
  const bool is_rounded = report.relative_error > solvers::least_reported_error;
  const bool is_refused = !solution.is_converged && report.method == "direct";
  return (is_rounded || is_refused) && std::ranges::any_of(prepared.operator_a().info(), [](const auto& kernel) {
           return kernel.plan[schedule::key::contraction] == kernel::Contraction::separable;
         });
}

} // namespace

Solution solve(const Problem& problem, const Progress& progress, RunOptions options) {
  auto& phases = options.phases;
  const Preparation preparation{.uses_measured_plans = options.uses_measured_plans};
  auto prepared = std::make_unique<const PreparedProblem>(problem, preparation, progress, phases);
  auto solved = solve_prepared(*prepared, phases);
  if (problem.discretisation.plan.empty() && loses_digits_to_plan(*prepared, solved.solution)) {
    progress.notify("roundings of the integrals along each axis cost digits of the solution: solving again with a plan "
                    "that integrates over cells");
    phases.merge("first try");
    auto own = prepared->problem();
    if (!prepared->request().has_method) own.solver.method.clear();
    own.discretisation.plan = "factors=recompute-merged"; // computed factors round alike at all points: more digits
    auto next = std::make_unique<const PreparedProblem>(std::move(own), preparation, progress, phases);
    solved = solve_prepared(*next, phases);
    prepared = std::move(next);
  }
  if (prepared->stepper() == nullptr) finish(*prepared, phases, solved.solution);
  auto& [solution, iteration] = solved;
  auto& report = solution.report;
  if (const auto now = base::process_memory(); now && options.resident_bytes)
    report.peak_memory_bytes = now->peak_bytes - *options.resident_bytes;
  report.copies = phases.copies();
  if (options.measures_operators) {
    measure_operators(*prepared, phases, report);
    if (iteration) report.operators.push_back(std::move(*iteration));
  }
  report.seconds = phases.seconds();
  return std::move(solution);
}

} // namespace rafter::problem
