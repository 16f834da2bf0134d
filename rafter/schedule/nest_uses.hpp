// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/schedule/schedule.hpp>

/// Where the nests of a schedule use arrays, and whether arrays may stand in the same place one after the other.
namespace rafter::schedule {

/// An array in memory that something done in a nest reads or writes.
struct ArrayUse {
  int array = -1;
  int memory = -1; ///< memory that the use names; -1: it names none
  bool writes = false;
  std::vector<int> opened{};         ///< axes whose indices it does not take from loops, even where these give them
  std::vector<int> in_place{};       ///< axes whose indices it takes instead of those (kernel::Product)
  const Do* what = nullptr;          ///< what uses it
  int number = 0;                    ///< place of `what` in the order in which all is done
  int stretch = 0;                   ///< number of the part of a nest, between its child nests, in which that is
  std::vector<const Nest*> around{}; ///< the nests around, outermost first

  bool opens(int axis) const;
};

/// The uses of arrays by something done, without `number`, `stretch` and `around`.
std::vector<ArrayUse> uses_of(const kernel::TensorProgram& program, const Schedule& schedule, const Do& what);
/// All uses in a schedule, in order. What a nest has in registers is not read in memory.
std::vector<ArrayUse> uses_of(const kernel::TensorProgram& program, const Schedule& schedule);

using UsesOfArray = std::vector<const ArrayUse*>;
/// Number of the nests that are around all of the uses, of the outermost ones on.
std::size_t num_common_nests(const UsesOfArray& uses);
/// Says whether two arrays, given by their uses in a memory, may stand in one of its places in turn: of what loops
/// around both do in one turn, the uses of one array come before those of the other, and different turns use different
/// entries, or neither array lasts from one turn to the next.
bool can_stand_in_turn(const kernel::TensorProgram& program, const Memory& memory, const UsesOfArray& one,
                       const UsesOfArray& other);

} // namespace rafter::schedule
