// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/expected_work.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/space/function_space.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::problem {

double expected_jacobi_iterations(double num_points, int tdim) {
  constexpr double per_point_of_an_edge = 2;
  return per_point_of_an_edge * std::pow(num_points, 1.0 / tdim);
}

bool takes_long_with_jacobi(double num_unknowns, int num_components, int tdim) {
  constexpr double seconds_per_unknown = 1e-8, long_seconds = 2;
  const double iterations = expected_jacobi_iterations(num_unknowns / num_components, tdim);
  return iterations * num_unknowns * seconds_per_unknown > long_seconds;
}

double expected_applications(const solvers::SolverOptions& options, bool uses_multigrid, const op::System& system) {
  double points = 0;
  for (const auto& space : system.spaces)
    points = std::max(points, static_cast<double>(space->num_local()) / space->num_components());
  // Multigrid takes some ten iterations with some four applications each.
  constexpr double with_multigrid = 60;
  const double expected = uses_multigrid ? with_multigrid : expected_jacobi_iterations(points, system.mesh->tdim);
  return std::min<double>(options.control.iteration_limit(), expected);
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
