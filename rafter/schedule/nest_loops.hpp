// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/schedule/schedule.hpp>

/// Loops over the axes of an array, for schedules.
namespace rafter::schedule {

/// Over the components.
Loop over_components(const kernel::TensorProgram& program, int array);
/// Over what is counted along a reference axis.
Loop over_axis(const kernel::TensorProgram& program, int array, int direction, LoopPlace place = LoopPlace::serial);
/// Over the columns along the last reference axis: the other axes behind that of components, counted as one.
Loop over_columns(const kernel::TensorProgram& program, int array);

/// Says whether a step reads or writes cell matrices from an array that has an axis of test and one of trial functions,
/// so that it goes entry by entry.
bool goes_by_entries(const kernel::TensorProgram& program, const kernel::Step& step);

/// A nest whose body is done in this order.
Nest nest_of(std::vector<Loop> loops, std::vector<Do> what);

/// Entries from one layer to the next in a memory, where a layer has so many. There is one more where layers would else
/// lie whole multiples of 4 KiB apart, so that they would compete for the same cache sets.
int padded_layer(const Plan& plan, CellPlace cell_place, int entries);

} // namespace rafter::schedule
