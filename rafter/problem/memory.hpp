// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
struct GeneratedForm;
} // namespace rafter::op

/// Estimates of the memory that a solve needs, by which problems that cannot fit are refused before they take it.
namespace rafter::problem {

/// What a solve keeps beside its operator.
struct SolveMemory {
  std::string source;                      ///< begin of messages; "": none
  std::vector<space::SpaceOptions> fields; ///< the unknowns
  double num_vectors = 0;                  ///< vectors of the length of the system
};

/// The levels of multigrid that a solve has; none unless it uses multigrid.
struct LevelMemory {
  bool exist = false;
  schedule::Precision precision = schedule::Precision::double_precision;
  /// Whether meshes lose their stretch along one axis, so that the level below the finest has half of its cells.
  bool are_halved_along_one_axis = false;
};

/// Number of vectors that the null space of these conditions keeps.
int num_null_space_vectors(std::span<const solvers::NullSpaceCondition> conditions);
/// The same for a condition on a field with so many components.
int num_null_space_vectors(solvers::NullSpaceCondition::Kind kind, int num_components);

/// Returns the number of vectors of the system's length that a solve keeps: solution, right-hand side, diagonal,
/// boundary values, those of the null space and what the method and its preconditioner need.
double num_vectors(const solvers::SolverOptions& options, const LevelMemory& levels, int num_null_space_vectors);

/// Refuses a problem before its mesh is made, from a sample of its cells: the mesh will have `factor` times as many of
/// each kind. Nodes on the boundary are not counted separately, so that large meshes are underestimated by a little.
/// Throws EnvironmentError when it does not fit into the memory of this machine.
void require_sample_fits(const SolveMemory& solve, const mesh::Mesh& sample, double factor);

/// Throws EnvironmentError when a problem on this mesh does not fit into the memory of this machine.
void require_fits(const SolveMemory& solve, const mesh::Mesh& mesh, const mesh::CellBatches& batches);

/// The kernels of a problem as text are known before their data take memory.
struct PlannedForms {
  std::vector<std::shared_ptr<op::GeneratedForm>> kept;      ///< kernels whose data stay in memory
  std::vector<std::shared_ptr<op::GeneratedForm>> transient; ///< kernels whose data exist only while they run
};

/// Throws EnvironmentError when the problem does not fit into memory with the numbers that its kernels store; the
/// message names the kernel that stores most.
void require_stored_fits(const SolveMemory& solve, const op::System& system, const PlannedForms& forms);

} // namespace rafter::problem
