// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/coupling.hpp>

/// Sizes of assembled matrices that the integers of their tables hold.
namespace rafter::op {

/// Sizes that are known before a matrix is set up.
struct MatrixSizes {
  double cell_unknowns = 0; ///< unknowns of all cells, where cells that share one count it each
  double slice_columns = 0; ///< columns of all slices of the product, about
  double row_columns = 0;   ///< bound of the block columns that a row of blocks has
};
/// `num_entries` as count_entries() says; `slice_height`: rows of blocks in a slice.
MatrixSizes matrix_sizes(const System& system, const Coupling& coupling, double num_entries, int slice_height);

/// What no matrix may exceed: "the unknowns of all cells, ... are 3e9; accepted are 2147483647"; "": nothing.
std::string lack_of_places(const MatrixSizes& sizes);
/// The same of what only products in slices have: their columns, and those of a row.
std::string lack_of_columns(const MatrixSizes& sizes);

} // namespace rafter::op
