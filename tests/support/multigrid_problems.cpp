// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/multigrid_problems.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/levels/auxiliary_operator.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/reference_transfer.hpp>

namespace rafter::test {

std::shared_ptr<const op::Transfer> reference_transfer(const op::TransferSpecification& of) {
  return std::make_shared<ReferenceTransfer>(of);
}

LevelledProblem::LevelledProblem(mesh::Generations meshes, const LevelledOptions& options,
                                 const op::TransferFactory& make_transfer)
    : meshes_(std::make_shared<const mesh::Generations>(std::move(meshes))) {
  const int cells_per_batch = options.cells_per_batch > 0
                                  ? options.cells_per_batch
                                  : op::level_cells_per_batch(options.precision, options.degree);
  const auto discretisation = std::make_shared<const space::Discretisation>(
      meshes_->finest(), space::DiscretisationOptions{.degree = options.degree, .cells_per_batch = cells_per_batch});
  const auto space =
      space::FunctionSpace::make(discretisation, {.degree = options.degree, .components = options.components});
  system_ = op::make_system({space});
  form::Scope scope(meshes_->finest()->gdim);
  scope.add_arguments(std::vector<std::shared_ptr<const form::FieldSpace>>{space});
  const auto form = form::parse_form(options.form, scope);
  std::vector<op::FieldCondition> conditions;
  if (options.has_dirichlet)
    conditions.push_back(dirichlet(
        space, [](std::span<const double>, std::size_t) { return 0.0; }, options.dirichlet_tags));
  const auto own = planned(
      {.device = "host", .threads = 1, .shared_device = options.device, .plan = options.plan, .dirichlet = conditions});
  A_ = std::make_shared<const op::Operator>(form, op::Systems(system_), own);
  auto kernels = A_->built().options;
  kernels.precision = options.precision;
  auto levels = op::generate_levels({.form = form,
                                     .system = system_,
                                     .meshes = meshes_,
                                     .conditions = conditions,
                                     .kernels = kernels,
                                     .coarsening = options.coarsening});
  if (levels.empty()) kernels.precision = schedule::Precision::double_precision;
  const auto own_level = op::generate_own_level(A_->form(), system_, conditions, kernels);
  op::compile(op::kernels_of(levels));
  op::compile(op::kernels_of(own_level));
  own_level_ = std::make_unique<const op::Auxiliary>(op::make_auxiliary(own_level, *A_));
  const bool is_single = own_level_->A != nullptr && own_level_->A->is_single();
  levels_ = op::make_levels(std::move(levels), own_level_->A ? *own_level_->A : *A_, *meshes_,
                            is_single ? op::TransferFactory() : make_transfer);
}

LevelledProblem::LevelledProblem(LevelledProblem&&) noexcept = default;
LevelledProblem::~LevelledProblem() = default;

solvers::SolverOptions LevelledProblem::solver(const solvers::MultigridParameters& parameters,
                                               std::span<const solvers::NullSpaceCondition> conditions) const {
  solvers::SolverOptions options{.method = "cg", .preconditioner = "multigrid"};
  options.control.rtol = 1e-6;
  options.control.norm = solvers::Norm::preconditioned;
  options.multigrid = parameters;
  options.hierarchy = solvers::make_hierarchy(levels_, system_, conditions, *own_level_);
  return options;
}

int LevelledProblem::iterations(const solvers::MultigridParameters& parameters, double load) const {
  Vector x = A_->make_vector();
  return solve(solver(parameters), x, load).iterations;
}

solvers::Result LevelledProblem::solve(const solvers::SolverOptions& options, Vector& x, double load) const {
  Vector b = A_->make_vector();
  std::ranges::fill(b.host_overwrite(), load);
  std::ranges::fill(x.host_overwrite(), 0.0);
  for (const auto entry : A_->constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
  auto result = solvers::solve(*A_, b, x, options);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  return result;
}

Vector random_residual(const op::Operator& A, unsigned seed) {
  Vector r = A.make_vector();
  std::ranges::fill(r.host_overwrite(), 0.0);
  const Vector values = random_vector(A, seed);
  for (const auto& range : A.owned_ranges())
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      r.host_write()[i] = values.host_read()[i];
  return r;
}

int singular_iterations(const LevelledProblem& problem) {
  const auto& A = problem.A();
  const std::vector<solvers::NullSpaceCondition> conditions{
      {.space = problem.system().spaces[0], .kind = solvers::NullSpaceCondition::Kind::mean, .values = {0.0}}};
  const auto null_space = solvers::make_null_space(A, conditions, {.planner = planner()});
  auto options = problem.solver({}, conditions);
  options.null_space = null_space.null_space();
  Vector b = random_residual(A, 3), x = A.make_vector();
  std::ranges::fill(x.host_overwrite(), 0.0);
  null_space.null_space()->project(b);
  const auto result = solvers::solve(A, b, x, options);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  return result.iterations;
}

mesh::Generations refined(mesh::Mesh mesh, int times) {
  return mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(mesh)), times);
}

} // namespace rafter::test
