// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

namespace role {
inline constexpr const char* sum_starts = "sum_starts"; ///< role of cell_vector_sum, as the next one
inline constexpr const char* sum_places = "sum_places";
} // namespace role

/// y = sum of cell vectors (mode_0[0] = 0) or y += that sum (1), on entries begin .. end - 1 of y: the second pass of
/// kernels that do not add to vectors (Way::cell_vector). Each item sums the terms of one entry in their order, so that
/// a result has the same bits in every run. The arguments are these and y (output_vector_0):
///   mode_0            {adds}
///   sum_starts_0      shape (entry + 1): number of terms of the entries before
///   sum_places_0      shape (term): place of the term in the cell vectors
///   cell_vector_0
/// `vectors` is the type of y and of cell vectors; sums are computed in it.
LoopProgram cell_vector_sum(Type vectors);

} // namespace rafter::schedule
