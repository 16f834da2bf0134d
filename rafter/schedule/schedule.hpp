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

/// Where the cells of a batch stand.
enum class CellPlace : std::uint8_t {
  in_turn, ///< one after the other
  lanes,   ///< key::vector_width of them, a sub-batch, across SIMD lanes
  items,   ///< across the items of a group, one for each cell
  group    ///< along the third axis of a group, whose other items hold points or dofs of a cell
};

/// Where a loop runs.
enum class LoopPlace : std::uint8_t {
  serial,
  unrolled,
  subbatches, ///< over no axes: the sub-batches of a pass one after the other
  cells,      ///< over no axes: the cells of a sub-batch one after the other. Inside, what counts along the first
              ///< reference axis stands in lanes, and its indices are those of vectors
  item_x,     ///< one index for each item along the first axis of the group; surplus items do nothing
  item_y,     ///< the same along the second axis
  turns       ///< along the first axis in as many turns as the items need
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
  /// Reference axes along which it keeps an index. Indices of components, and those that count along no reference axis,
  /// are kept in any case, but for `is_of_component` and `drops`; the loops around every use give the others. Entries
  /// have the order of the axes of arrays, the last fastest.
  std::vector<int> keeps;
  /// Arrays by place: places stand one after the other, and the arrays of one stand there in turn.
  std::vector<std::vector<int>> places;
  int padding = 0; ///< entries left free behind each run of the last index
  /// Entries from one layer to the next, if not 0: from one index along the last reference axis, or from one component
  /// where no such index is kept. Arrays of different extents then have their layers at the same places.
  int layer = 0;
  bool is_of_component = false; ///< holds one component, whose index the loops around give
  /// So many numbers along the first reference axis stand in lanes, those of one cell, the last vector of them not
  /// always full. 0: cells stand there.
  int points_in_lanes = 0;
  bool has_cells = false;   ///< `points_in_lanes`: holds all cells of a sub-batch, one after the other
  int spare = 0;            ///< entries behind all others
  std::vector<int> drops{}; ///< axes of the program along no reference axis whose indices it does not keep
};

/// What is done in a nest, with the indices that the loops around it give. Indices that they leave open are written
/// out. Memories are given by number; -1: the first one that holds the array, or registers of this nest alone where
/// none does.
struct Do {
  enum class Action : std::uint8_t {
    step,            ///< a step of the program from memory `from` to `to`
    copy,            ///< array `array` is copied from one memory to the other, or into registers
    clear,           ///< array `array` is set to 0 in memory `to`, and all that write it there then add to it
    begin_integrals, ///< the sums of integral outputs begin
    end_integrals    ///< they are added to memory outside
  };
  Action action = Action::step;
  int step = -1, array = -1;
  int component = -1; ///< copies: of this component alone; -1: of all that no loop gives
  int from = -1,
      to = -1;  ///< memories; `to` of the QFunction takes the outputs that it holds, others go where they stand
  int sum = -1; ///< memory of what the step adds to; -1: that where the result goes
  bool is_marched = false; ///< loops around give the summed index of a contraction, and its free one is written out
  bool is_in_registers = false; ///< the result stays in registers of this nest, whatever memory holds the array
  /// Rows of a table in memory whose sums stand in registers at the same time, block by block. 0: all is written out.
  int rows = 0;
};

/// Loops, and what is done inside, in order. A nest with loops over items holds no other nest.
struct Nest {
  std::vector<Loop> loops;
  std::vector<std::variant<Do, Nest>> body;
};

/// All that lowering needs beside the program.
struct Schedule {
  CellPlace cell_place = CellPlace::group;
  int subbatches = 1;             ///< CellPlace::lanes: sub-batches of a pass, whose numbers stand side by side
  std::array<int, 2> items{1, 1}; ///< CellPlace::group: items of a cell along both axes
  int cells = 1;                  ///< CellPlace::group: cells at a time, along the third axis of the group
  Way way = Way::first_touch;     ///< how results are added to vectors
  std::vector<Memory> memories;
  Nest nest;
};

/// Says whether items of a group hold the indices of a loop.
inline bool is_over_items(const Loop& loop) { return loop.place >= LoopPlace::item_x; }
/// The loop of a nest over an axis, or null.
const Loop* loop_over(const Nest& nest, int axis);

/// Indices along an axis in a memory: numbers, or vectors of them.
int extent_in(const kernel::TensorProgram& program, const Memory& memory, int axis);
/// Distances in memory between entries of an array that follow each other along its axes; 0 where no index is kept.
std::vector<int> strides_of(const kernel::TensorProgram& program, const Memory& memory, int array);
/// Entries that a memory takes per cell (shared, or Memory::has_cells) or item: numbers, or vectors of points in lanes.
int size_of(const kernel::TensorProgram& program, const Memory& memory);
/// Bytes of shared memory of a group.
std::int64_t shared_bytes(const kernel::TensorProgram& program, const Schedule& schedule, int bytes_per_number);
/// The memory that holds an array: the number given, or else the first one, or -1 where none does.
int memory_of(const Schedule& schedule, int array, int given = -1);
/// The memory that is named for an output of the QFunction, or -1.
int memory_of_output(const Schedule& schedule, const Do& evaluation, int array);
/// Says whether a step changes an array in place.
bool works_in_place(const kernel::Step& step);
/// Arrays that something done in a nest reads or makes, those of the QFunction among them.
std::vector<int> arrays_read(const kernel::TensorProgram& program, const Do& what);
std::vector<int> arrays_made(const kernel::TensorProgram& program, const Do& what);
/// Says whether the QFunction is evaluated in a nest.
bool evaluates(const kernel::TensorProgram& program, const Nest& nest);

/// Throws InternalError unless every step is done once, loops give each index that a memory does not keep, arrays are
/// written before they are read or added to and not lost before, also where arrays stand in one place in turn
/// (can_stand_in_turn), what stands in no memory is used where it is made, items suffice for the loops over them, do
/// not all do the same, do not share entries or read in a nest what others write there, and lanes hold what is read
/// there.
void verify(const kernel::TensorProgram& program, const Schedule& schedule);

/// Text for people: memories, then nests by indentation. A step is named by the array that it makes.
std::string to_string(const kernel::TensorProgram& program, const Schedule& schedule);

} // namespace rafter::schedule
