// SPDX-License-Identifier: BSD-3-Clause
#include "problem_solver.hpp"

#include <fmt/format.h>
#include <rafter/base/memory.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/problem/solve_problem.hpp>

#include "discretisation.hpp"
#include "interrupt.hpp"
#include "stated_problem.hpp"

namespace rafter::app {
namespace {

/// Makes the meshes of a problem, and everything else of it on them.
problem::Problem read(io::Problem file, const RunOptions& options, const problem::Progress& progress,
                      problem::Phases& phases) {
  op::OperatorOptions own{.device = options.device, .threads = options.threads};
  if (options.plan != predicted_plan) own.plan = options.plan;
  static_cast<void>(op::cells_per_batch(own.plan)); // refuses what is no plan before the mesh is made
  own.shared_device = op::device_of(own);
  const base::ThreadLimit limit(options.threads);
  phases.watch(own.shared_device);
  phases.start("mesh");
  const auto meshes = make_meshes(file);
  progress.notify(fmt::format("mesh: {} cells", meshes.finest()->num_cells()));
  phases.start("spaces");
  auto result = state(file, meshes, std::move(own));
  std::int64_t unknowns = 0;
  for (const auto& unknown : result.unknowns)
    unknowns += std::dynamic_pointer_cast<const space::FunctionSpace>(unknown.node().space)->num_dofs();
  progress.notify(fmt::format("spaces: {} unknowns", unknowns));
  return result;
}

problem::Progress stoppable(problem::Progress progress) {
  progress.is_stopped = is_interrupted;
  return progress;
}

} // namespace

std::unique_ptr<const problem::PreparedProblem> prepare_operators(const io::Problem& file, const RunOptions& options) {
  problem::Phases phases;
  const auto progress = stoppable({});
  return std::make_unique<const problem::PreparedProblem>(
      read(file, options, progress, phases),
      problem::Preparation{
          .solves = false, .uses_measured_plans = options.plan != predicted_plan, .weighs_all_plans = true},
      progress, phases);
}

problem::Solution solve_problem(const io::Problem& file, const RunOptions& options, const problem::Progress& progress) {
  problem::RunOptions run{.uses_measured_plans = options.plan != predicted_plan,
                          .measures_operators = options.measures_operators};
  if (const auto memory = base::process_memory()) run.resident_bytes = memory->resident_bytes;
  const auto own = stoppable(progress);
  const auto stated = read(file, options, own, run.phases);
  return problem::solve(stated, own, std::move(run));
}

} // namespace rafter::app
