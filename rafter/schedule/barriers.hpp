// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <set>

#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// The nests over items before which the items of a group wait for each other: the fewest, taken in order, such that no
/// item touches an entry of shared memory that another one has touched since the last wait, one of them writing. Two
/// nests touch entries by the same items where both bind all kept indices of the memory to items in the same way, and
/// the arrays have the same extents there.
std::set<const Nest*> barriers_of(const kernel::TensorProgram& program, const Schedule& schedule, bool has_passes);

} // namespace rafter::schedule
