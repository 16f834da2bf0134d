// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/generate/coupling.hpp>

/// Says which assembled matrices are too large for the integers of their tables.
namespace rafter::op {

/// Sizes of a matrix that are known before it is set up.
struct MatrixSizes {
  double cell_unknowns = 0; ///< sum over the cells of their unknowns
  double slice_columns = 0; ///< estimated columns of all slices of the product
  double row_columns = 0;   ///< bound of the block columns of a row of blocks
};
/// `num_entries` comes from count_entries(); `slice_height` is the number of rows of blocks in a slice.
MatrixSizes matrix_sizes(const System& system, const Coupling& coupling, double num_entries, int slice_height);

/// Says what no matrix may exceed ("the unknowns of all cells, ... are 3e9; accepted are 2147483647"), or "".
std::string lack_of_places(const MatrixSizes& sizes);
/// Says the same of what only products in slices have: their columns, and those of a row.
std::string lack_of_columns(const MatrixSizes& sizes);

} // namespace rafter::op
