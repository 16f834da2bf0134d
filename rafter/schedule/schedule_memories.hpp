// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <rafter/schedule/context.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// EntryIndices of an entry, by axis of the program.
using EntryIndices = std::map<int, NodePtr>;

/// Calls f(component, indices) for all entries of an array, with the indices that are given; the others are written
/// out.
void each_entry(const kernel::TensorProgram& program, int array, const EntryIndices& given,
                const std::function<void(int component, const EntryIndices& at)>& f);
/// Number of a dof or point of the whole cell, by the axes of an array.
NodePtr number_in_cell(const kernel::TensorProgram& program, int array, const EntryIndices& at);

/// The memories of a schedule as buffers of a loop program, and entries of arrays in them. Memories are given by
/// number.
class ScheduleMemories {
public:
  /// Declares the buffers.
  ScheduleMemories(Context& context, const Schedule& schedule);

  NodePtr load(int memory, int array, int component, const EntryIndices& at) const;
  /// Stores a number, or adds it, as to all arrays that a schedule clears.
  void store(int memory, int array, int component, const EntryIndices& at, NodePtr value, bool adds,
             Statements& to) const;
  /// Overwrites a number in any case.
  void overwrite(int memory, int array, int component, const EntryIndices& at, NodePtr value, Statements& to) const;

private:
  void find_cleared(const Nest& of);
  const Memory& memory(int number) const { return schedule_.memories[static_cast<std::size_t>(number)]; }
  const kernel::Axis& axis(int number) const { return program_.axes[static_cast<std::size_t>(number)]; }
  int extent_in(const Memory& memory, int of_axis) const;
  NodePtr entry(int number, int array, int component, const EntryIndices& at) const;

  Context& context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::set<std::pair<int, int>> cleared_; ///< array, memory
};

} // namespace rafter::schedule
