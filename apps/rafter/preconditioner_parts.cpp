// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioner_parts.hpp"

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/solve/multigrid_levels.hpp>

#include "problem_solver.hpp"

namespace rafter::app {

solvers::GeneratedBlocks generate_blocks(const io::Problem& problem, const form::Form& form, const op::System& system,
                                         std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels,
                                         const std::shared_ptr<const mesh::Generations>& meshes) {
  std::vector<solvers::FieldPreconditioner> preconditioners;
  for (const auto& name : problem.blocks)
    preconditioners.push_back({.name = name, .meshes = meshes, .coarsening = problem.coarsening});
  try {
    return solvers::generate_blocks(form, system, conditions, kernels, std::move(preconditioners));
  } catch (const base::InputError& error) {
    throw base::InputError(
        fmt::format("{}: solver.preconditioner: {}", problem.preconditioner_location.text(), error.what()));
  }
}

void add_preconditioner_parts(const PreparedProblem& prepared, solvers::SolverOptions& options) {
  const auto& conditions = prepared.constraints().conditions;
  if (uses_blocks(prepared.problem()))
    options.blocks = solvers::make_blocks(prepared.blocks(), prepared.operator_a(), *options.null_space, conditions);
  else if (uses_multigrid(prepared.problem()))
    options.hierarchy =
        solvers::make_hierarchy(prepared.levels(), prepared.system(), conditions, prepared.symmetric_part());
}

} // namespace rafter::app
