// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// How arrays stand in the memories that they are given.
struct Placing {
  bool has_turns = true;   ///< arrays take the places of others that are needed no more
  bool has_layers = false; ///< layers of all arrays lie as far apart, padded (padded_layer)
  int points_in_lanes = 0; ///< Memory::points_in_lanes
  int padding = 0;         ///< Memory::padding of shared ones
  /// Arrays of which each item that holds a cell has its part in shared memory, with so many numbers left free behind.
  std::vector<int> in_parts{};
  int behind_parts = 0;
};

/// Gives a memory to every array that several nests use: those of items where each item has its own entries, else
/// shared. It keeps the indices that loops around all its uses do not give. What one nest alone makes and reads stays
/// in registers. Memories that a schedule has already hold what they state, and stand behind; of them the indices that
/// they keep are found, too.
void place_arrays(const kernel::TensorProgram& program, const Plan& plan, Schedule& schedule, const Placing& how);

} // namespace rafter::schedule
