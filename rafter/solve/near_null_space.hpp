// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace rafter::op {
struct System;
} // namespace rafter::op

namespace rafter::solvers {

/// Says what the unknowns of a matrix stand for, as algebraic multigrid needs to know: which of them are at one node,
/// and functions that the operator makes small, which every coarser level must hold.
struct NearNullSpace {
  std::int32_t num_nodes = 0;
  std::vector<std::int32_t> node; ///< shape (unknown); -1: padding
  /// Number of the component for which each unknown stands, shape (unknown); -1: unknowns whose entries do not show how
  /// strongly nodes are connected, such as rotations on coarser levels.
  std::vector<std::int32_t> component;
  std::vector<std::vector<double>> modes;   ///< shape (mode, unknown)
  std::vector<std::int32_t> mode_component; ///< component that a mode is the constant of, shape (mode); -1: none
};

/// The constants of each component of each field, and the rotations of fields with one component per axis, which are
/// the rigid-body modes of elasticity.
NearNullSpace make_near_null_space(const op::System& system);

/// The constant, where nothing is known of the unknowns: each is a node of its own.
NearNullSpace constant_near_null_space(std::int64_t num_unknowns);

} // namespace rafter::solvers
