// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::io {

/// Writes a matrix in the coordinate format of Matrix Market (Boisvert, Pozo, Remington, NISTIR 5935, 1996), as "matrix
/// coordinate real general". Every entry is a line "row column value"; indices count from 1, and values have 17 digits,
/// so that they read back to the last bit. `comments` are lines before the sizes. SciPy reads the file with
/// scipy.io.mmread. The rules for names and failures are those of base::OutputFile.
void write_matrix_market(const std::string& name, const op::SparseMatrix& matrix,
                         std::span<const std::string> comments = {});

} // namespace rafter::io
