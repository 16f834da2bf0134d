// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/schedule/vector_loop.hpp>

/// Lowers loops over vectors to loop programs. Batches of a run are ranges of entries, or rows of sums.
namespace rafter::schedule {

/// The mapping of a loop over vectors to a device.
struct VectorMapping {
  /// Entries that one statement takes: lanes of a host. 1 where `num_items` is more.
  int vector_width = 1;
  /// Items of a group, each of which takes every num_items-th entry of a range; a power of two. 1: a host, which runs
  /// all ranges of a run one after the other.
  int num_items = 1;
};

/// The programs of a loop. Each has the name of the loop with an ending.
struct VectorPrograms {
  /// Runs the loop on ranges of entries. Its arguments are the operands and the lists of the loop, each in their order,
  /// then
  /// - `scalars_`: the scalars in their order,
  /// - `ranges_`: pairs of the first entry and the one behind the last, shape (range, 2); of a list these are positions
  ///   in it,
  /// - `rows_`: sums. A host writes those of all ranges of the run into the first row, added in an order that the
  /// ranges
  ///   alone decide; a group writes those of its range into the row of the range, shape (range, sum).
  LoopProgram main;
  /// Adds the rows of sums begin .. end - 1 in an order that their number alone decides, writes the totals, and then
  /// assigns the scalars. Its arguments are `rows_`, `totals_` and `scalars_`. Absent where the loop has neither sums
  /// nor scalar assignments.
  std::optional<LoopProgram> total;
};

/// Throws InternalError where the mapping has both lanes and items.
VectorPrograms lower(const VectorLoop& loop, const VectorMapping& mapping);

} // namespace rafter::schedule
