// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/schedule/key.hpp>

/// The keys of cells in the items of groups: how many items a group has, and where the numbers of their cells stand
/// (Banas, Kruzel, Bielanski, Computer Methods in Applied Mechanics and Engineering 305, 2016, section 4).
namespace rafter::schedule {

/// The numbers of a cell that stand in the memory that the items of a group share, each item having its own part,
/// instead of in memory of the item.
enum class Workspace : std::uint8_t {
  none,
  geometry,     ///< geometry nodes, or the coefficients of the map
  coefficients, ///< coefficients of pairs of slots, multiplied by the volume or the weights
  shapes,       ///< physical derivatives of shape functions
  matrix        ///< the matrix of the cell
};
std::string_view name(Workspace workspace);

/// The order in memory of what kernels read of cells, the coefficients of their maps or nodes and coefficients of the
/// form, and how they read it.
enum class Reading : std::uint8_t {
  coalesced, ///< shape (batch, number, cell): neighbouring items read neighbouring numbers
  plain,     ///< shape (batch, cell, number): each item reads the numbers of its cell
  staged     ///< the same order: the items of a group copy the numbers of its cells to shared memory, neighbours those
             ///< that are neighbours in memory, and each takes those of its cell from there
};
std::string_view name(Reading reading);

/// The order in memory of the matrices of cells that kernels write, or set-up for kernels that multiply by them.
enum class Writing : std::uint8_t {
  coalesced, ///< shape (batch, entry, cell): neighbouring items write neighbouring numbers
  plain      ///< shape (batch, cell, entry)
};
std::string_view name(Writing writing);

namespace key {
extern const KeyOf<int> work_group; ///< items of a group; 0 ("auto"): as many as the device usually keeps busy
/// Cells that an item computes one after the other: in each turn the items of a group hold as many batches.
extern const KeyOf<int> cells_per_item;
extern const KeyOf<Reading> read;
extern const KeyOf<Writing> write;
extern const KeyOf<Workspace> workspace;
extern const KeyOf<bool> padding; ///< one number is left free behind the part of each item in shared memory
} // namespace key

/// All of them.
std::span<const Key* const> keys_of_items();

/// Says whether each item of the groups of a plan holds a cell.
bool holds_cells(const Plan& plan);
/// Says whether the numbers of a cell stand one after the other in what kernels of a lowered plan read of cells, or in
/// the matrices of cells that they write.
bool reads_cell_by_cell(const Plan& plan);
bool writes_cell_by_cell(const Plan& plan);

} // namespace rafter::schedule
