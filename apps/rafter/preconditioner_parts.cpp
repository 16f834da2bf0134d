// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioner_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/solve/multigrid_levels.hpp>

#include "method_choice.hpp"
#include "problem_solver.hpp"

namespace rafter::app {

void at_preconditioner(const io::Problem& problem, const std::function<void()>& function) {
  try {
    function();
  } catch (const op::CoarseningError& error) {
    const auto& place = problem.coarsening_location;
    throw base::InputError(fmt::format("{}: solver.multigrid.coarsening: {}",
                                       place ? place->text() : problem.preconditioner_location.text(), error.what()));
  } catch (const base::InputError& error) {
    if (std::string_view(error.what()).starts_with(problem.source)) throw;
    const auto place = problem.has_preconditioner ? problem.preconditioner_location.text() : problem.source;
    throw base::InputError(fmt::format("{}: solver.preconditioner: {}", place, error.what()));
  }
}

solvers::GeneratedBlocks generate_blocks(const io::Problem& problem, const form::Form& form, const op::System& system,
                                         std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels,
                                         const std::shared_ptr<const mesh::Generations>& meshes) {
  std::vector<solvers::FieldPreconditioner> preconditioners;
  for (const auto& name : problem.blocks)
    preconditioners.push_back(
        {.name = name, .meshes = meshes, .coarsening = problem.coarsening, .precision = problem.level_precision});
  solvers::GeneratedBlocks result;
  at_preconditioner(problem, [&] {
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
    at_preconditioner(problem_, [&] { levels = op::generate_levels(specification); });
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
  at_preconditioner(problem_,
                    [&] { result = solvers::make_hierarchy(levels_, system_, constraints_.conditions, own_level_); });
  return result;
}

std::function<solvers::NearNullSpace()> PreparedProblem::near_null_space() const {
  return [system = system_] { return solvers::make_near_null_space(system); };
}

void add_preconditioner_parts(const PreparedProblem& prepared, solvers::SolverOptions& options) {
  const auto& conditions = prepared.constraints().conditions;
  options.near_null_space = prepared.near_null_space();
  if (uses_blocks(prepared.problem()))
    at_preconditioner(prepared.problem(), [&] {
      options.blocks = solvers::make_blocks(prepared.blocks(), prepared.operator_a(), *options.null_space, conditions,
                                            [&](op::Operator& block) { prepared.data().bind(block, block.form()); });
    });
  else
    options.hierarchy = prepared.make_hierarchy();
}

bool has_chosen_multigrid(const io::Problem& problem, const solvers::SolverOptions& options) {
  return !problem.has_preconditioner && options.preconditioner == "multigrid" &&
         !solvers::find_method(options.method).is_direct;
}

solvers::SolverOptions trial_options(const io::Problem& problem, solvers::SolverOptions options) {
  constexpr int most = 60;
  if (has_chosen_multigrid(problem, options))
    options.control.max_iterations = std::min(options.control.iteration_limit(), most);
  return options;
}

bool needs_jacobi(const solvers::Result& result, const solvers::SolverOptions& options) {
  return result.status != solvers::Status::converged && result.failure != solvers::Failure::stopped &&
         result.iterations < options.control.iteration_limit();
}

void take_jacobi(const PreparedProblem& prepared, solvers::SolverOptions& options, const std::string& reason) {
  prepared.tell("preconditioner: jacobi follows: " + reason);
  options.preconditioner = "jacobi";
  options.hierarchy = nullptr;
}

void refuse_preconditioner(const io::Problem& problem, const base::SolverError& error) {
  if (!problem.has_preconditioner) throw;
  if (dynamic_cast<const solvers::CoarseSolverError*>(&error) != nullptr)
    throw base::InputError(
        fmt::format("{}: solver.multigrid.coarse: {}", problem.coarse_location.text(), error.what()));
  throw base::SolverError(
      fmt::format("{}: solver.preconditioner: {}", problem.preconditioner_location.text(), error.what()));
}

namespace {

/// Throws InputError for a method that needs a positive definite preconditioner and gets another one, unless direct
/// solves follow where it fails (choose_after).
void require_definite(const io::Problem& problem, const op::Operator& A, const solvers::Preconditioner& M,
                      const solvers::SolverOptions& options) {
  const auto count = M.num_negative_eigenvalues();
  const bool is_for_definite = options.method == "cg" || options.method == "minres";
  const bool is_tried =
      has_chosen_multigrid(problem, options) || (!problem.has_solver_method && fits_direct_solve(A.system()));
  if (count == 0 || M.factors() != nullptr || !is_for_definite || is_tried) return;
  throw base::InputError(fmt::format(
      "{}: solver.method: \"{}\" needs a positive definite preconditioner, and the symmetric part of the form is "
      "indefinite (the coarsest level of \"{}\" has {} negative eigenvalue{}): use \"gmres\" or \"bicgstab\"",
      problem.has_solver_method ? problem.method_location.text() : problem.source, options.method,
      options.preconditioner, count, count == 1 ? "" : "s"));
}

} // namespace

std::shared_ptr<const solvers::Preconditioner> make_preconditioner(const PreparedProblem& prepared,
                                                                   solvers::SolverOptions& options) {
  std::shared_ptr<const solvers::Preconditioner> result;
  const auto make = [&] {
    at_preconditioner(prepared.problem(),
                      [&] { result = solvers::make_preconditioner(prepared.operator_a(), options); });
  };
  try {
    make();
  } catch (const base::SolverError& error) {
    if (!has_chosen_multigrid(prepared.problem(), options)) throw;
    take_jacobi(prepared, options, error.what());
    make();
  }
  require_definite(prepared.problem(), prepared.operator_a(), *result, options);
  solvers::warn_if_indefinite(*result, options);
  return result;
}

} // namespace rafter::app
