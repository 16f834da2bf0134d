// SPDX-License-Identifier: BSD-3-Clause
#include "expected_work.hpp"

#include <algorithm>
#include <cmath>

#include <rafter/space/function_space.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>

#include "discretisation.hpp"

namespace rafter::app {

double expected_jacobi_iterations(double num_points, int tdim) {
  constexpr double per_point_of_an_edge = 2;
  return per_point_of_an_edge * std::pow(num_points, 1.0 / tdim);
}

double expected_applications(const io::Problem& problem, const op::System& system) {
  double points = 0;
  for (const auto& space : system.spaces)
    points = std::max(points, static_cast<double>(space->num_local()) / space->num_components());
  // Multigrid takes some ten iterations with some four applications each.
  constexpr double with_multigrid = 60;
  const double expected =
      uses_multigrid(problem) ? with_multigrid : expected_jacobi_iterations(points, system.mesh->tdim);
  return std::min<double>(problem.solver.control.iteration_limit(), expected);
}

bool is_shorter_than_compilation(const io::Problem& problem, const op::System& system,
                                 const op::OperatorOptions& options) {
  constexpr double few_flops = 2e9, flops_per_pair = 8; // values and gradients there and back
  if (problem.forms.F || problem.time || !options.plan.empty()) return false;
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

} // namespace rafter::app
