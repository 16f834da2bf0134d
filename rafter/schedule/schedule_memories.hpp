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
/// those along the axes `but`, which f gives. Where points stand in lanes, those along the first reference axis are
/// indices of vectors.
void each_entry(const Context& context, int array, const EntryIndices& given,
                const std::function<void(const EntryIndices& at)>& f, std::span<const int> but = {});
/// The indices with number `number` along axes that are counted as one.
EntryIndices numbered(const kernel::TensorProgram& program, EntryIndices at, std::span<const int> axes, int number);
/// Number of a dof or point of the whole cell, by the axes of an array behind that of components. Where points stand in
/// lanes, it is that of the point in the lane.
NodePtr number_in_cell(const Context& context, int array, const EntryIndices& at);
/// The axis of components of an array.
inline int component_axis(const kernel::TensorProgram& program, int array) { return program.array(array).axes.front(); }

/// The memories of a schedule as buffers of a loop program, and entries of arrays in them. Memories are given by
/// number.
class ScheduleMemories {
public:
  /// Declares the buffers.
  ScheduleMemories(Context& context, const Schedule& schedule);

  const std::string& name(int number) const { return memory(number).name; }
  /// Says whether a memory is the item's own part of one that the items of its group share.
  bool is_part_of_item(int number) const {
    return number >= 0 && memory(number).space == Space::shared && schedule_.cell_place == CellPlace::items;
  }
  /// Entry at which what the cell has of a memory begins.
  NodePtr begin(int number) const;
  bool has_points_in_lanes(int number) const { return memory(number).points_in_lanes > 0; }
  /// Says whether what is written adds, as to all arrays that a schedule clears.
  bool is_cleared(int number, int array) const { return cleared_.contains({array, number}); }
  NodePtr load(int number, int array, const EntryIndices& at) const;
  void store(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const;
  void add(int number, int array, const EntryIndices& at, NodePtr value, Statements& to) const;
  /// A number along the first reference axis, whose index `at` leaves out, the same in all lanes: of the cell at hand
  /// where points stand in lanes.
  NodePtr load_scalar(int number, int array, EntryIndices at, int along_first) const;
  /// The numbers of the cell at hand along the first reference axis from that on whose index `at` gives as an index of
  /// vectors, one in each lane, from a memory in which cells stand in lanes. The last one is repeated.
  NodePtr load_vector(int number, int array, const EntryIndices& at) const;
  /// Moves an array from a memory of points in lanes that has all cells to one of cells in lanes.
  void transpose(int from, int to, int array, Statements& statements) const;
  /// Number of the entry.
  NodePtr entry(int number, int array, const EntryIndices& at) const;
  /// The places of the dofs of an access in a memory that holds the array.
  Placement placement(int number, int array, const kernel::Access& access) const;

private:
  void find_cleared(const Nest& of);
  int first_axis(int array) const;
  /// Where the entries of an array stand in a memory.
  struct ArrayPlace {
    int begin = 0;
    std::vector<int> strides; ///< along each of its axes
  };
  const ArrayPlace& place_of(int number, int array) const;
  NodePtr entry_behind_begin(int number, int array, const EntryIndices& at) const;
  const Memory& memory(int number) const { return schedule_.memories[static_cast<std::size_t>(number)]; }

  Context& context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::set<std::pair<int, int>> cleared_;                    ///< array, memory
  mutable std::map<std::pair<int, int>, ArrayPlace> places_; ///< by memory and array, as far as anyone has asked
};

} // namespace rafter::schedule
