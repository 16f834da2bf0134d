// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <variant>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>

/// Schedules: how the steps of a tensor program run, as values. A schedule says which loops there are, what is done in
/// them in which order, and where arrays stand; one lowering (schedule_lowering.hpp) makes a loop program of it.
/// Barriers follow from it.
namespace rafter::schedule {

/// Where a loop runs.
enum class LoopPlace : std::uint8_t {
  serial,
  unrolled,
  item_x, ///< one index for each item along the first axis of the group; surplus items do nothing
  item_y, ///< the same along the second axis
  turns   ///< along the first axis in as many turns as the items need
};

/// A loop over axes of the program, which are counted as one, the last fastest.
struct Loop {
  std::vector<int> axes;
  LoopPlace place = LoopPlace::serial;
};

/// Memory in which arrays stand: registers or other memory of each item, or memory that the items of a cell share.
struct Memory {
  std::string name;
  Space space = Space::work;
  /// Reference axes along which it keeps an index, the last fastest, behind that of components; the loops around every
  /// use give the others.
  std::vector<int> keeps;
  /// Arrays by place: places stand one after the other, and the arrays of one stand there in turn.
  std::vector<std::vector<int>> places;
  int padding = 0; ///< entries left free behind each run of the last index
};

/// What is done in a nest, with the indices that the loops around it give. Indices that they leave open are written
/// out. Memories are given by number; -1: the first one that holds the array, or registers of this nest alone where
/// none does.
struct Do {
  enum class Action : std::uint8_t {
    step,  ///< a step of the program, but for `weigh` in place, from memory `from` to `to`
    copy,  ///< array `array` is copied from one memory to the other
    clear, ///< array `array` is set to 0 in memory `to`, and all that write it there then add to it
  };
  Action action = Action::step;
  int step = -1, array = -1;
  int from = -1, to = -1;
  bool is_marched = false; ///< loops around give the summed index of a contraction, and its free one is written out
};

/// Loops, and what is done inside, in order. A nest with loops over items holds no other nest.
struct Nest {
  std::vector<Loop> loops;
  std::vector<std::variant<Do, Nest>> body;
};

/// All that lowering needs beside the program. A group takes a batch, several of its cells at a time.
struct Schedule {
  std::array<int, 2> items{1, 1}; ///< items of a cell along both axes
  int cells = 1;                  ///< cells at a time, along the third axis of the group
  std::vector<Memory> memories;
  Nest nest;
};

/// Numbers that a memory takes per cell (shared) or item.
int size_of(const kernel::TensorProgram& program, const Memory& memory);
/// Bytes of shared memory of a group.
std::int64_t shared_bytes(const kernel::TensorProgram& program, const Schedule& schedule, int bytes_per_number);

/// Throws InternalError unless every step is done once, loops give each index that a memory does not keep, arrays are
/// written before they are read or added to and not lost before, what stands in no memory is used where it is made,
/// items suffice for the loops over them, do not all do the same, and do not share entries.
void verify(const kernel::TensorProgram& program, const Schedule& schedule);

/// Text for people: memories, then nests by indentation. A step is named by the array that it makes.
std::string to_string(const kernel::TensorProgram& program, const Schedule& schedule);

} // namespace rafter::schedule
