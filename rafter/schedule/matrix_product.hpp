// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>

/// Multiplies an assembled matrix by a vector.
namespace rafter::schedule {

/// Name of the mapping of plans that sum cell matrices into one matrix at set-up and multiply by that. No tensor
/// program is lowered by it: kernels that compute the cell matrices take the first mapping of the registry.
inline constexpr std::string_view assembled_mapping = "assembled";
inline bool is_assembled(const Plan& plan) { return plan[key::mapping].name == assembled_mapping; }

/// Number of rows of a slice under this plan: the vector width, but at least two.
int slice_height(const Plan& plan);

/// y = A x (mode_0[0] = 0) or y += A x (1) for a matrix of blocks of block x block entries, one column number each, on
/// slices begin .. end - 1. A slice consists of as many block rows as there are lanes, side by side, padded to the
/// length of its longest row (sliced ELLPACK: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010,
/// doi:10.1007/978-3-642-11515-8_10). The arguments are these and the two vectors:
///   mode_0            {adds, number of block rows}
///   slice_starts_0    shape (slice + 1): number of columns of the slices before
///   rows_0            shape (slice, lane): block rows, ascending in a slice; the first one again behind the last row
///   columns_0         shape (start, lane): block columns; any valid one in padding
///   entries_0         shape (start, row of the block, column of the block, lane); 0 in padding
/// `plan` gives the vector width, the precision of the entries and how x is gathered. On devices with groups the rows
/// of a slice stand in the lanes of an item, or in the items of a group where an item has no lanes; a group takes
/// several slices.
LoopProgram matrix_product(int block, const Plan& plan, const Target& target = {});

} // namespace rafter::schedule
