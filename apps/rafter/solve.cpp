// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/report/report.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "problem_data.hpp"
#include "problem_solver.hpp"

namespace rafter::app {
namespace {

/// Without this check, every process of an MPI run would solve the whole problem and write the same files.
void require_one_process() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::string_view(size) != "1")
      throw base::EnvironmentError(fmt::format("started as {} processes, but this version runs in one process: leave "
                                               "mpirun away and use --threads",
                                               size));
  }
}

} // namespace

int run_solve(const SolveOptions& options) {
  require_one_process();
  const auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  base::claim_outputs(
      std::vector<base::NamedFile>{{"--json", options.json},
                                   {problem.output.location.text() + ": output.file", problem.output.file}},
      input_files(problem));
  Console console;
  const RunEvents events{
      .event = [&console](const std::string& text) { console.event(text); },
      .compilation = [&console](std::size_t number, std::size_t count) { console.compilation(number, count); },
      .iteration =
          [&](int number, double residual) {
            console.iteration(number, residual,
                              problem.forms.F && !problem.time ? problem.newton.rtol : problem.solver.control.rtol);
            return true;
          }};
  const RunOptions run{
      .device = options.problem.device, .threads = options.problem.threads, .plan = options.problem.plan};
  const auto solution = solve_problem(problem, run, events);
  console.clear();
  // The file is written first, since whoever reads the text may close the pipe early. The text is printed even if the
  // file cannot be written.
  std::exception_ptr failure;
  if (!options.json.empty()) try {
      base::write_output(options.json, report::to_json(solution.report));
    } catch (const base::Error&) {
      failure = std::current_exception();
    }
  fmt::print("{}", report::to_text(solution.report));
  if (solution.is_written)
    fmt::print("\nwritten: {}{}\n", base::output_text(problem.output.file),
               solution.is_converged ? "" : " (the last iterate of a solve that did not converge)");
  if (failure) std::rethrow_exception(failure);
  return solution.report.status == "converged" ? exit_done : exit_not_solved;
}

} // namespace rafter::app
