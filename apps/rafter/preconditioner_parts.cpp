// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioner_parts.hpp"

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/solve/multigrid_levels.hpp>

#include "problem_solver.hpp"
#include "stated_problem.hpp"

namespace rafter::app {

solvers::GeneratedBlocks generate_blocks(const io::Problem& problem, const form::Form& form, const op::System& system,
                                         std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels,
                                         const std::shared_ptr<const mesh::Generations>& meshes) {
  std::vector<solvers::FieldPreconditioner> preconditioners;
  for (const auto& name : problem.blocks)
    preconditioners.push_back(
        {.name = name, .meshes = meshes, .coarsening = problem.coarsening, .precision = problem.level_precision});
  solvers::GeneratedBlocks result;
  problem::at_preconditioner(places_of(problem), [&] {
    result = solvers::generate_blocks(form, system, conditions, kernels, std::move(preconditioners));
  });
  return result;
}

std::vector<op::GeneratedLevel> PreparedProblem::generate_levels(const op::KernelOptions& kernels) {
  op::HierarchySpecification specification{.system = system_,
                                           .meshes = meshes_,
                                           .conditions = options_.dirichlet,
                                           .kernels = kernels,
                                           .coarsening = problem_.coarsening};
  specification.kernels.precision = problem_.level_precision;
  if (problem_.time)
    specification.form_on = [this](const auto& spaces) { return forms_->theta_tangent(spaces); };
  else
    specification.form = forms_->bilinear();
  try {
    std::vector<op::GeneratedLevel> levels;
    problem::at_preconditioner(places_of(problem_), [&] { levels = op::generate_levels(specification); });
    return levels;
  } catch (const base::InputError& error) {
    if (problem_.has_preconditioner) throw;
    problem_.solver.preconditioner = "jacobi";
    tell(fmt::format("preconditioner: jacobi, since there are no levels of multigrid: {}", error.what()));
    return {};
  }
}

std::shared_ptr<const solvers::MultigridHierarchy> PreparedProblem::make_hierarchy() const {
  if (!uses_multigrid(problem_) || uses_blocks(problem_)) return nullptr;
  std::shared_ptr<const solvers::MultigridHierarchy> result;
  problem::at_preconditioner(places_of(problem_), [&] {
    result = solvers::make_hierarchy(levels_, system_, constraints_.conditions, own_level_);
  });
  return result;
}

std::function<solvers::NearNullSpace()> PreparedProblem::near_null_space() const {
  return [system = system_] { return solvers::make_near_null_space(system); };
}

void add_preconditioner_parts(const PreparedProblem& prepared, solvers::SolverOptions& options) {
  const auto& conditions = prepared.constraints().conditions;
  options.near_null_space = prepared.near_null_space();
  if (uses_blocks(prepared.problem()))
    problem::at_preconditioner(places_of(prepared.problem()), [&] {
      options.blocks = solvers::make_blocks(prepared.blocks(), prepared.operator_a(), *options.null_space, conditions,
                                            [&](op::Operator& block) { prepared.data().bind(block, block.form()); });
    });
  else
    options.hierarchy = prepared.make_hierarchy();
}

} // namespace rafter::app
