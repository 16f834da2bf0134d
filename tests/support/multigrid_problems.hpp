// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/parser.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/reference_transfer.hpp>

/// Problems with all their levels, for tests of multigrid.
namespace rafter::test {

struct LevelledOptions {
  std::string form = "inner(grad(u), grad(v))*dx";
  int degree = 2, components = 0;
  std::vector<std::int32_t> dirichlet_tags{}; ///< empty: the whole boundary
  bool has_dirichlet = true;
  op::Coarsening coarsening{};
  std::shared_ptr<device::Device> device{}; ///< null: the host, with one thread
  schedule::Precision precision =
      schedule::Precision::double_precision; ///< of levels, whose transfers are compiled then
  std::string plan{};                        ///< of the operator; empty: it is chosen
  int cells_per_batch = 0;                   ///< on the finest mesh; 0: as the precision of the levels asks for
};

inline std::shared_ptr<const op::Transfer> reference_transfer(const op::TransferSpecification& of) {
  return std::make_shared<ReferenceTransfer>(of);
}

/// An operator on the finest of some meshes, and the levels below it.
class LevelledProblem {
public:
  LevelledProblem(mesh::Generations meshes, const LevelledOptions& options,
                  const op::TransferFactory& make_transfer = reference_transfer)
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
    const auto own = planned({.device = "host",
                              .threads = 1,
                              .shared_device = options.device,
                              .plan = options.plan,
                              .dirichlet = conditions});
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
    own_level_ = op::make_auxiliary(own_level, *A_);
    const bool is_single = own_level_.A != nullptr && own_level_.A->is_single();
    levels_ = op::make_levels(std::move(levels), own_level_.A ? *own_level_.A : *A_, *meshes_,
                              is_single ? op::TransferFactory() : make_transfer);
  }

  const op::Operator& A() const { return *A_; }
  const op::System& system() const { return system_; }
  const std::vector<op::Level>& levels() const { return levels_; }
  solvers::SolverOptions solver(const solvers::MultigridParameters& parameters = {},
                                std::span<const solvers::NullSpaceCondition> conditions = {}) const {
    solvers::SolverOptions options{.method = "cg", .preconditioner = "multigrid"};
    options.control.rtol = 1e-6;
    options.control.norm = solvers::Norm::preconditioned;
    options.multigrid = parameters;
    options.hierarchy = solvers::make_hierarchy(levels_, system_, conditions, own_level_);
    return options;
  }
  /// Number of iterations of CG for a load of this size on the free unknowns.
  int iterations(const solvers::MultigridParameters& parameters = {}, double load = 1) const {
    Vector x = A_->make_vector();
    return solve(solver(parameters), x, load).iterations;
  }
  /// Solves for a load of this size on the free unknowns, from zero.
  solvers::Result solve(const solvers::SolverOptions& options, Vector& x, double load = 1) const {
    Vector b = A_->make_vector();
    std::ranges::fill(b.host_overwrite(), load);
    std::ranges::fill(x.host_overwrite(), 0.0);
    for (const auto entry : A_->constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
    auto result = solvers::solve(*A_, b, x, options);
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    return result;
  }

private:
  std::shared_ptr<const mesh::Generations> meshes_;
  op::System system_;
  std::shared_ptr<const op::Operator> A_;
  op::Auxiliary own_level_; ///< before the levels, whose data follow it
  std::vector<op::Level> levels_;
};

/// Returns a vector with random values at the owned entries of an operator, and 0 elsewhere.
inline Vector random_residual(const op::Operator& A, unsigned seed) {
  Vector r = A.make_vector();
  std::ranges::fill(r.host_overwrite(), 0.0);
  const Vector values = random_vector(A, seed);
  for (const auto& range : A.owned_ranges())
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      r.host_write()[i] = values.host_read()[i];
  return r;
}

/// Number of iterations for a random load without a mean, of a problem without conditions whose solution has none.
inline int singular_iterations(const LevelledProblem& problem) {
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

/// The mesh refined so many times, with all generations.
inline mesh::Generations refined(mesh::Mesh mesh, int times) {
  return mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(mesh)), times);
}

} // namespace rafter::test
