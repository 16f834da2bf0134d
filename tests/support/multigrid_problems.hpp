// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/generations.hpp>
#include <rafter/operator/levels/coarsening.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::op {
struct Auxiliary;
}

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
      schedule::Precision::double_precision; ///< precision of levels, whose transfers are compiled then
  std::string plan{};                        ///< plan of the operator; empty: it is chosen
  int cells_per_batch = 0; ///< cells per batch on the finest mesh; 0: as the precision of the levels asks for
};

std::shared_ptr<const op::Transfer> reference_transfer(const op::TransferSpecification& of);

/// An operator on the finest of some meshes, and the levels below it.
class LevelledProblem {
public:
  LevelledProblem(mesh::Generations meshes, const LevelledOptions& options,
                  const op::TransferFactory& make_transfer = reference_transfer);
  LevelledProblem(LevelledProblem&&) noexcept;
  ~LevelledProblem();

  const op::Operator& A() const { return *A_; }
  const op::System& system() const { return system_; }
  const std::vector<op::Level>& levels() const { return levels_; }
  solvers::SolverOptions solver(const solvers::MultigridParameters& parameters = {},
                                std::span<const solvers::NullSpaceCondition> conditions = {}) const;
  /// Number of iterations of CG for a load of this size on the free unknowns.
  int iterations(const solvers::MultigridParameters& parameters = {}, double load = 1) const;
  /// Solves for a load of this size on the free unknowns, from zero.
  solvers::Result solve(const solvers::SolverOptions& options, Vector& x, double load = 1) const;

private:
  std::shared_ptr<const mesh::Generations> meshes_;
  op::System system_;
  std::shared_ptr<const op::Operator> A_;
  std::unique_ptr<const op::Auxiliary> own_level_; ///< comes before the levels, whose data follow it
  std::vector<op::Level> levels_;
};

/// Returns a vector with random values at the owned entries of an operator, and 0 elsewhere.
Vector random_residual(const op::Operator& A, unsigned seed);

/// Number of iterations for a random load without a mean, of a problem without conditions whose solution has none.
int singular_iterations(const LevelledProblem& problem);

/// The mesh refined so many times, with all generations.
mesh::Generations refined(mesh::Mesh mesh, int times);

} // namespace rafter::test
