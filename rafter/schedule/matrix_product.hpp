// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/plan.hpp>

/// The product of an assembled matrix with a vector.
namespace rafter::schedule {

/// Name of the mapping of plans that sum cell matrices into one matrix, set up once, and multiply with that. It maps no
/// tensor program: kernels that compute cell matrices take the first mapping of the registry.
inline constexpr std::string_view assembled_mapping = "assembled";
inline bool is_assembled(const Plan& plan) { return plan.mapping == assembled_mapping; }

/// Rows of a slice under this plan: the lanes of a register, two at least.
int slice_height(const Plan& plan);

/// y = A x (mode_0[0] = 0) or y += A x (1) of a matrix of blocks, block x block entries each that share one column
/// number, on slices begin .. end - 1. A slice is as many block rows as there are lanes, side by side, filled up to the
/// length of its longest row (sliced ELLPACK: Monakov, Lokhmotov, Avetisyan, HiPEAC 2010,
/// doi:10.1007/978-3-642-11515-8_10). Its arguments:
///   mode_0            {adds, number of block rows}
///   slice_starts_0    shape (slice + 1): columns of the slices before
///   rows_0            shape (slice, lane): block row; those of a slice ascend; behind the last row: its first one
///   columns_0         shape (start, lane): block column; where a row is filled up: any
///   entries_0         shape (start, row of the block, column of the block, lane); 0 where a row is filled up
/// and the two vectors. `plan`: its lanes and the precision of its storage.
LoopProgram matrix_product(int block, const Plan& plan);

} // namespace rafter::schedule
