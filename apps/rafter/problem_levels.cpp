// SPDX-License-Identifier: BSD-3-Clause
// This file makes the levels of multigrid for a problem.
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/multigrid_levels.hpp>

#include "problem_solver.hpp"

namespace rafter::app {

std::vector<op::GeneratedLevel> PreparedProblem::generate_levels(const op::KernelOptions& kernels) const {
  try {
    op::HierarchySpecification specification{.system = system_,
                                             .meshes = meshes_,
                                             .conditions = options_.dirichlet,
                                             .kernels = kernels,
                                             .coarsening = problem_.coarsening};
    if (problem_.time)
      specification.form_on = [this](const auto& spaces) { return forms_->theta_tangent(spaces); };
    else
      specification.form = forms_->bilinear();
    return op::generate_levels(specification);
  } catch (const base::InputError& error) {
    throw base::InputError(
        fmt::format("{}: solver.preconditioner: {}", problem_.preconditioner_location.text(), error.what()));
  }
}

std::shared_ptr<const solvers::MultigridHierarchy> PreparedProblem::make_hierarchy() const {
  if (!uses_multigrid(problem_)) return nullptr;
  return solvers::make_hierarchy(levels_, system_, constraints_.conditions);
}

std::function<solvers::NearNullSpace()> PreparedProblem::near_null_space() const {
  return [system = system_] { return solvers::make_near_null_space(system); };
}

} // namespace rafter::app
