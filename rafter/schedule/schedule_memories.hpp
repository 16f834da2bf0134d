// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// Indices of an entry, by axis of the program.
using EntryIndices = std::map<int, NodePtr>;

/// Calls f(indices) for all entries of an array, with the indices that are given; the others are written out, but for
/// those along the axes `but`, which f gives.
void each_entry(const kernel::TensorProgram& program, int array, const EntryIndices& given,
                const std::function<void(const EntryIndices& at)>& f, std::span<const int> but = {});
/// The indices with number `number` along axes that are counted as one.
EntryIndices numbered(const kernel::TensorProgram& program, EntryIndices at, std::span<const int> axes, int number);
/// Number of a dof or point of the whole cell, by the axes of an array behind that of components.
NodePtr number_in_cell(const kernel::TensorProgram& program, int array, const EntryIndices& at);
/// The axis of components of an array.
inline int component_axis(const kernel::TensorProgram& program, int array) { return program.array(array).axes.front(); }

/// The memories of a schedule as buffers of a loop program, and entries of arrays in them. Memories are given by
/// number.
class ScheduleMemories {
public:
  /// Declares the buffers.
  ScheduleMemories(Context& context, const Schedule& schedule);

  const std::string& name(int number) const { return memory(number).name; }
  /// Says whether what is written adds, as to all arrays that a schedule clears.
  bool is_cleared(int number, int array) const { return cleared_.contains({array, number}); }
  NodePtr load(int number, int array, const EntryIndices& at) const;
  void store(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const;
  void add(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const;
  /// Number of the entry.
  NodePtr entry(int number, int array, const EntryIndices& at) const;
  /// The places of dofs that fill an array. `field`: null where they fill it in their order.
  Placement placement(int number, int array, const kernel::FieldUse* field = nullptr) const;

private:
  void find_cleared(const Nest& of);
  /// Where the entries of an array stand in a memory.
  struct ArrayPlace {
    int begin = 0;
    std::vector<int> strides; ///< along each of its axes
  };
  const ArrayPlace& place_of(int number, int array) const;
  const Memory& memory(int number) const { return schedule_.memories[static_cast<std::size_t>(number)]; }

  Context& context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::set<std::pair<int, int>> cleared_;                    ///< array, memory
  mutable std::map<std::pair<int, int>, ArrayPlace> places_; ///< by memory and array, as far as anyone has asked
};

} // namespace rafter::schedule
