// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// The meaning of programs whose groups have items: runs batches begin .. end-1 on these arrays. The items of a group
/// execute each statement together, those for which the conditions around it hold. Throws InternalError, with program,
/// buffer, entry and both accesses, where
/// - two items of a group touch an entry between the same two barriers, or two groups in the whole run, one of them
///   writes, and not both add atomically;
/// - an item reads an entry of shared memory that its group has not written, or one of its work arrays that it has not
///   written itself;
/// - the results depend on the order of the groups, which run in ascending and in descending order: entries to which
///   several of them add atomically may differ by the rounding of their sums, all others not at all.
/// The arrays then hold the results of the ascending order.
void interpret_launch(const LoopProgram& program, std::span<const Argument> arguments, std::int64_t begin,
                      std::int64_t end);

} // namespace rafter::schedule
