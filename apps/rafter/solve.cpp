// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/report/report.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "problem_data.hpp"
#include "problem_solver.hpp"

namespace rafter::app {
namespace {

/// Every process of an MPI run would solve the whole problem and write the same files without this check.
void require_one_process() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::string_view(size) != "1")
      throw base::EnvironmentError(fmt::format("started as {} processes, but this version runs in one process: leave "
                                               "mpirun away and use --threads",
                                               size));
  }
}

/// Prints the progress of the run, unless that is to be quiet.
problem::Solution run_problem(const io::Problem& problem, const SolveOptions& options) {
  const RunOptions run{.device = options.problem.device,
                       .threads = options.problem.threads,
                       .plan = options.problem.plan,
                       .measures_operators = !options.is_quiet || !options.json.empty()}; // else nobody reads them
  if (options.is_quiet) return solve_problem(problem, run);
  Console console;
  const double rtol = problem.forms.F && !problem.time ? problem.newton.rtol : problem.solver.control.rtol;
  return solve_problem(
      problem, run,
      problem::Progress{
          .event = [&console](const std::string& text) { console.event(text); },
          .compilation = [&console](std::size_t number, std::size_t count) { console.compilation(number, count); },
          .iteration =
              [&console, rtol](int number, double residual) {
                console.iteration(number, residual, rtol);
                return true;
              }});
}

void print_report(const problem::Solution& solution, const io::Problem& problem, report::Detail detail) {
  const auto& report = solution.report;
  if (!report.machine.warning.empty() && !report.operators.empty()) base::warn_once(report.machine.warning);
  fmt::print("{}", report::to_text(report, detail));
  if (solution.is_written)
    fmt::print("\nwritten: {}{}\n", base::output_text(problem.output.file),
               solution.is_converged ? "" : " (the last iterate of a solve that did not converge)");
}

/// "not converged after 7 iterations: ..."
std::string failure_text(const report::SolveReport& report) {
  return fmt::format("{} after {} {}{}{}", report.status, report.iterations,
                     report.newton.empty() ? "iterations" : "Newton steps", report.message.empty() ? "" : ": ",
                     report.message);
}

} // namespace

int run_solve(const SolveOptions& options) {
  require_one_process();
  if (options.is_quiet) base::set_warning_handler({});
  const auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  base::claim_outputs(
      std::vector<base::NamedFile>{{"--json", options.json},
                                   {problem.output.location.text() + ": output.file", problem.output.file}},
      input_files(problem));
  const auto solution = run_problem(problem, options);
  // The file is written first, since whoever reads the text may close the pipe early. The text is printed even if the
  // file cannot be written.
  std::exception_ptr failure;
  if (!options.json.empty()) try {
      base::write_output(options.json, report::to_json(solution.report));
    } catch (const base::Error&) {
      failure = std::current_exception();
    }
  if (!options.is_quiet)
    print_report(solution, problem, options.is_verbose ? report::Detail::all : report::Detail::results);
  if (failure) std::rethrow_exception(failure);
  if (solution.report.status == "converged") return exit_done;
  if (options.is_quiet) throw base::SolverError(failure_text(solution.report));
  return exit_not_solved;
}

} // namespace rafter::app
