// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/schedule/key.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

/// The way in which items add what cells contribute to an unknown that cells share.
enum class Scatter : std::uint8_t {
  atomic,   ///< adds in any order, by atomic additions
  coloured, ///< cell by cell, where no other group adds to the same unknowns: the stages of the host. The same bits in
            ///< every run
  two_pass  ///< not at all: cells store what they contribute side by side, and one item for each unknown sums it. The
            ///< same bits in every run
};
std::string_view name(Scatter scatter); ///< "atomic", "coloured", "two-pass"

namespace key {
extern const KeyOf<Scatter> scatter;
} // namespace key

std::span<const Key* const> keys_of_cell_per_item();

/// Mapping `cell_per_item`: what simd_cells does for devices that run groups of items. Each item holds a cell if
/// key::vector_width is 1: items stand in the place of the lanes, and work arrays are memory of the item. Lanes stay
/// lanes if it is more, those of the only item of a group, as processors compute. It accepts every kernel: actions,
/// functionals (one sum per cell), set-up, cell matrices and transfers, on blocks and lists of cells.
///
/// A group takes several batches with Scatter::atomic and two_pass, one for each number of an item along the second
/// axis, or with lanes one after the other; a run may cover any batches. A group takes a chunk of batches with
/// Scatter::coloured, one after the other: role::chunk_bounds holds two numbers for each, and a run covers entries of
/// this table instead of batches; chunks of a run share no unknown. Lanes then store what they are the first to touch,
/// as on the host; items add in the order of the cells. Kernels that add to no vector have groups of several batches in
/// either case.
std::optional<Schedule> schedule_cell_per_item(const LoweringInput& input, const Plan& plan);
/// A plan without what only hosts have, and where items are the lanes, without what only lanes have.
Plan for_items(Plan plan);

} // namespace rafter::schedule
