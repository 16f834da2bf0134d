// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/expected_work.hpp>

#include <algorithm>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::problem {

bool SolveForecast::is_for_multigrid() const {
  constexpr double worth_kernels = 0.3; // the kernels of levels are compiled in seconds, and loaded in a tenth of one
  return with_jacobi > worth_kernels && with_multigrid < with_jacobi;
}

SolveForecast forecast_solve(const op::GeneratedForm& action, double jacobi_iterations) {
  double application = 0, setup = 0;
  if (action.matrix != nullptr && action.forecast) {
    application = action.forecast->seconds;
    setup = action.forecast->setup_seconds;
  } else {
    for (std::size_t b = 0; b < action.num_cell_blocks; ++b)
      application += action.blocks[b].kernel.info.decision.seconds;
  }
  const auto& planner = action.options.planner->options();
  const int threads = action.options.target->num_threads;
  // Set-up and solution by multigrid, in iterations with Jacobi on the finest level; and the kernels of levels.
  constexpr double multigrid_in_iterations = 115, levels_in_seconds = 0.05;
  constexpr double vectors_per_iteration = 10; // those that conjugate gradients read and write beside the operator's
  const double bytes = 8.0 * static_cast<double>(action.system.num_unknowns());
  const auto near = machine::resident(planner.machine, 4 * bytes, threads);
  constexpr double doubt = 1.15; // iterations take so much longer than predicted (docs/decisions/0086)
  const double iteration =
      doubt * (application + vectors_per_iteration * bytes / near.rate(near.memory().triad, threads));
  return {.with_jacobi = setup + jacobi_iterations * iteration,
          .with_multigrid = setup + levels_in_seconds + multigrid_in_iterations * iteration};
}

double expected_applications(const solvers::SolverOptions& options, bool uses_multigrid, double jacobi_iterations) {
  // Multigrid takes some ten iterations with some four applications each.
  constexpr double with_multigrid = 60;
  return std::min<double>(options.control.iteration_limit(), uses_multigrid ? with_multigrid : jacobi_iterations);
}

bool is_shorter_than_compilation(const op::System& system, const op::OperatorOptions& options) {
  constexpr double few_flops = 2e9, flops_per_pair = 8; // values and gradients there and back
  if (!options.plan.empty()) return false;
  const auto& planner = options.planner->options();
  if (planner.weighs_all || (planner.store != nullptr && planner.store->exists())) return false;
  double flops = 0;
  for (const auto& space : system.spaces)
    for (const auto& group : system.mesh->groups) {
      const double dofs = space->element(group.shape)->num_dofs();
      flops += flops_per_pair * dofs * dofs * space->num_components() * group.num_cells();
    }
  return options.num_applications * flops < few_flops;
}

} // namespace rafter::problem
