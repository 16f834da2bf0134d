// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/report/report.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "problem_solver.hpp"

namespace rafter::app {
namespace {

/// The report must not take the place of the problem, its mesh or its output.
void require_own_file(const SolveOptions& options, const io::Problem& problem) {
  if (options.json.empty()) return;
  const auto same = [&](const std::string& other) {
    std::error_code error;
    const auto path = [](const std::string& p) { return std::filesystem::absolute(p).lexically_normal(); };
    return !other.empty() &&
           (path(options.json) == path(other) || std::filesystem::equivalent(options.json, other, error));
  };
  for (const auto& [file, what] :
       {std::pair(options.problem.file, "the problem file"), std::pair(problem.mesh.file, "the mesh"),
        std::pair(problem.output.file, "the output")})
    if (same(file))
      throw base::InputError(fmt::format("--json {}: is {}; accepted is a file of its own", options.json, what));
}

/// Every process of an MPI run would solve the whole problem and write the same files.
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
  report::require_folder("--json", options.json);
  const auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  require_own_file(options, problem);
  Console console;
  const RunEvents events{.event = [&console](const std::string& text) { console.event(text); },
                         .iteration =
                             [&](int number, double residual) {
                               console.iteration(number, residual, problem.solver.control.rtol);
                               return true;
                             }};
  const RunOptions run{
      .device = options.problem.device, .threads = options.problem.threads, .plan = options.problem.plan};
  const auto solution = solve_problem(problem, run, events);
  console.clear();
  fmt::print("{}", report::to_text(solution.report));
  if (solution.is_written)
    fmt::print("\nwritten: {}{}\n", problem.output.file,
               solution.is_converged ? "" : " (the last iterate of a solve that did not converge)");
  if (!options.json.empty()) report::write_file(options.json, report::to_json(solution.report));
  return solution.report.status == "converged" ? exit_done : exit_not_solved;
}

} // namespace rafter::app
